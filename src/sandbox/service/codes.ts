/**
 * The codes of refusals: those of Protocol Buffers services (google.rpc.Code) that the sandbox uses, with their
 * numbers and the HTTP status that each has in google/rpc/code.proto.
 */
export const codes = {
  INVALID_ARGUMENT: { number: 3, status: 400 },
  NOT_FOUND: { number: 5, status: 404 },
  ALREADY_EXISTS: { number: 6, status: 409 },
  PERMISSION_DENIED: { number: 7, status: 403 },
  RESOURCE_EXHAUSTED: { number: 8, status: 429 },
  FAILED_PRECONDITION: { number: 9, status: 400 },
  UNIMPLEMENTED: { number: 12, status: 501 },
  INTERNAL: { number: 13, status: 500 },
  UNAVAILABLE: { number: 14, status: 503 },
  UNAUTHENTICATED: { number: 16, status: 401 },
} as const;

export type Code = keyof typeof codes;
