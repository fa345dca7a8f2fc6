import { circumstance } from '../../../base/errors/system-error.ts';
import { type ApiFailure, apiFailure, serverText } from '../failure.ts';
import type { ExchangeProgress, RequestProgress } from './exchange.ts';
import { describeProxy, type HttpProxy, ProxyError } from './proxy.ts';
import type { CallStop } from './stop.ts';

/** The failure of a lost request. It is unclear once writing has started, unless the head of a 4xx answer says that it was refused. */
export function lostFailure(error: Error, reached: ExchangeProgress, proxy?: HttpProxy): ApiFailure {
  if (error instanceof ProxyError) return withProgress(proxyKind(error), reached);
  const reason = errorCode(error);
  if (reached.progress !== 'unsent') return withProgress(sentKind(reason, reached.progress, error), reached);
  const { message, ...kind } = unsentKind(reason, error);
  const way = proxy === undefined ? '' : `, through the proxy ${describeProxy(proxy)}`;
  return withProgress({ ...kind, message: `${message}${way}` }, reached);
}

export function stopFailure(reached: ExchangeProgress, reason: CallStop | undefined): ApiFailure {
  const moment = {
    unsent: 'before the request was sent',
    sent: 'before an answer came',
    answering: 'in the middle of the answer',
  }[reached.progress];
  const kind: FailureKind =
    reason === 'timed-out'
      ? failureKind('TOTAL_TIMEOUT', `The call timed out ${moment}`)
      : failureKind('INTERRUPTED', `The call was stopped ${moment}`);
  return withProgress(kind, reached);
}

function withProgress({ code, message }: FailureKind, { progress, status }: ExchangeProgress): ApiFailure {
  const refused = status !== undefined && status >= 400 && status < 500;
  const unclear = progress !== 'unsent' && !refused;
  return apiFailure(code, message, { ...(status !== undefined && { status }), unclear });
}

type FailureKind = Pick<ApiFailure, 'code' | 'message'>;

const failureKind = (code: FailureKind['code'], message: string): FailureKind => ({ code, message });

/** The failure of a proxy, with codes of its own, because the API certainly did not get the request. */
function proxyKind({ proxy: { authorization, ...named }, trouble }: ProxyError): FailureKind {
  const proxy = describeProxy(named);
  if ('cause' in trouble) {
    const reason = errorCode(trouble.cause);
    const authority = isTlsError(reason, trouble.cause) ? '; for a private CA, set NODE_EXTRA_CA_CERTS' : '';
    return failureKind('PROXY_UNREACHABLE', `No connection to the proxy ${proxy} (${reason})${authority}`);
  }
  const { status } = trouble;
  if (status === 407) {
    const wish =
      authorization === undefined
        ? 'requires a user name and password'
        : `refuses the user name and password of ${named.variable}`;
    return failureKind('PROXY_AUTHENTICATION', `The proxy ${proxy} ${wish} (407)`);
  }
  return status < 500
    ? failureKind('PROXY_REFUSED', `The proxy ${proxy} does not allow connections to the API (${status})`)
    : failureKind('PROXY_BAD_GATEWAY', `The proxy ${proxy} cannot connect to the API (${status})`);
}

/** The circumstances of the system that are not caused by the network. */
const localLimits = ['MEMORY_LIMIT', 'TOO_MANY_FILES'];

function unsentKind(reason: string, error: Error): FailureKind {
  const limit = circumstance(error);
  if (limit !== undefined && localLimits.includes(limit.code))
    return failureKind('LOCAL_LIMIT', `No connection to the server: ${limit.what}`);
  if (isTlsError(reason, error)) {
    const message = `No trusted TLS connection to the server (${reason}): check the base URL and the server's certificate; for a private CA, set NODE_EXTRA_CA_CERTS`;
    return failureKind('TLS_ERROR', message);
  }
  switch (reason) {
    case 'ECONNREFUSED':
      return failureKind('CONNECTION_REFUSED', 'The server refuses connections');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
      return failureKind('HOST_NOT_FOUND', `The host of the base URL cannot be resolved (${reason})`);
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return failureKind('CONNECT_TIMEOUT', 'The server does not accept a connection in time');
    default:
      return failureKind('CONNECT_FAILED', `No connection to the server (${reason})`);
  }
}

function sentKind(reason: string, progress: RequestProgress, error: Error): FailureKind {
  switch (reason) {
    case 'UND_ERR_HEADERS_TIMEOUT':
      return failureKind('HEADERS_TIMEOUT', 'The server did not begin to answer in time');
    case 'UND_ERR_BODY_TIMEOUT':
      return failureKind('BODY_TIMEOUT', 'The server stopped in the middle of its answer');
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return failureKind('ANSWER_TOO_LARGE', 'The answer is larger than the client accepts');
    case 'UND_ERR_HEADERS_OVERFLOW':
      return failureKind('ANSWER_TOO_LARGE', 'The headers of the answer are larger than the client accepts');
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return failureKind('ANSWER_CUT_OFF', 'The answer is not as long as its Content-Length says');
  }
  const informational = informationalAnswers.get(error.message);
  if (informational !== undefined) {
    const message = `The server answered ${informational}, which the client had not requested and can't skip, so the final answer is lost. Configure the server, or the proxy in front of it, to answer without it`;
    return failureKind('ANSWER_INFORMATIONAL', message);
  }
  if (error.name === 'HTTPParserError' && progress === 'sent') {
    return failureKind('ANSWER_NOT_HTTP', `The server's answer is not HTTP (${serverText(error.message)})`);
  }
  if (error.name === 'HTTPParserError' && reason !== 'HPE_INVALID_EOF_STATE')
    return failureKind('ANSWER_CUT_OFF', `The answer goes on with something that is not HTTP (${reason})`);
  return progress === 'answering'
    ? failureKind('ANSWER_CUT_OFF', `The connection was lost in the middle of the answer (${reason})`)
    : failureKind('CONNECTION_LOST', `The connection was lost before an answer came (${reason})`);
}

/** Informational answers for which undici closes the connection, by undici's message. It skips all others. */
const informationalAnswers: ReadonlyMap<string, string> = new Map([
  ['bad response', '100 Continue'],
  ['bad upgrade', '101 Switching Protocols'],
]);

/** Whether a certificate fails verification (`X509_V_ERR_…` of OpenSSL), or the server does not speak TLS. */
function isTlsError(reason: string, error: Error): boolean {
  return tlsErrors.test(reason) || (reason === 'EPROTO' && /wrong version number/i.test(error.message));
}

const tlsErrors =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|ERR_TLS_CERT_|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|HTTP_REQUEST))/;

function errorCode(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? code : error.name;
}
