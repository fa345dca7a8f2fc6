/** Codes of calls that fail: the canonical ones (`google/rpc/code.proto`), and those of the way to the API and back. */
export const failureCodes = [
  ...['CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE'],
  ...['UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
  ...['REQUEST_TIMEOUT', 'CONFLICT', 'TOO_EARLY', 'BAD_GATEWAY', 'HTTP_REDIRECT'],
  ...['ANSWER_NOT_JSON', 'ANSWER_TOO_LARGE', 'ANSWER_ENCODING_UNKNOWN', 'ANSWER_ENCODING_BROKEN'],
  ...['ANSWER_INCOMPLETE', 'ANSWER_ID_MISMATCH', 'ANSWER_STILL_DELETED'],
  ...['ANSWER_NOT_HTTP', 'ANSWER_INFORMATIONAL', 'ANSWER_CUT_OFF', 'CONNECTION_LOST'],
  ...['CONNECTION_REFUSED', 'HOST_NOT_FOUND', 'CONNECT_TIMEOUT', 'CONNECT_FAILED', 'TLS_ERROR'],
  ...['PROXY_UNREACHABLE', 'PROXY_BAD_GATEWAY', 'PROXY_AUTHENTICATION', 'PROXY_REFUSED'],
  ...['TOKEN_UNREADABLE', 'TOKEN_EMPTY', 'TOKEN_MALFORMED'],
  ...['HEADERS_TIMEOUT', 'BODY_TIMEOUT', 'TOTAL_TIMEOUT', 'INTERRUPTED', 'CLIENT_CLOSED'],
] as const;

/** Codes of rows: why they ended as they did, or have not ended. */
export const rowCodes = [
  ...failureCodes,
  ...['OK', 'ALREADY_APPLIED', 'INVALID_ROW', 'DUPLICATE', 'DONE_BEFORE', 'SUPERSEDED'],
  'NOT_REPEATED',
  ...['PENDING', 'HALTED'],
] as const;

/** A status that no canonical code stands for. */
type StatusCode = `HTTP_${number}`;

export type FailureCode = (typeof failureCodes)[number] | StatusCode;

export type RowCode = (typeof rowCodes)[number] | StatusCode;
