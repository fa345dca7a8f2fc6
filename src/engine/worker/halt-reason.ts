import { type CqbatchError, fatalError } from '../../base/errors/errors.ts';
import type { ApiFailure } from '../api/failure.ts';
import type { Halt } from './health-evidence.ts';

/** Why calling stops, for display: the request, the answer, and what to correct. */
export function haltReason(baseUrl: string, { because, calls, lastedMs, ...last }: Halt): CqbatchError {
  if (because === 'unproven') {
    const tries = calls === 1 ? '1 try' : `${calls} tries`;
    return fatalError('API_UNPROVEN', `No call has succeeded after ${tries}. ${exchange(baseUrl, last)}`);
  }
  const minutes = Math.max(1, Math.round(lastedMs / 60_000));
  const what = because === 'refusals' ? 'has refused every call' : 'has been away';
  return fatalError(
    'API_AWAY',
    `The API ${what} for ${minutes} min, longer than --max-outage allows. ${exchange(baseUrl, last)}`,
  );
}

/** A single answer is enough: a wrong token, base URL or permission. */
export function refusalReason(baseUrl: string, path: string, failure: ApiFailure): CqbatchError {
  return fatalError('API_REFUSES', `No row can succeed. ${exchange(baseUrl, { path, failure })}`);
}

function exchange(baseUrl: string, { path, failure }: Pick<Halt, 'path' | 'failure'>): string {
  const { code, message, status } = failure;
  const answer = `${message.replace(/\.$/, '')} (${status === undefined ? '' : `HTTP ${status}, `}${code})`;
  return `Asked: ${baseUrl}${path}. Came back: ${answer}. ${remedy(failure)}`;
}

const byBaseUrl = 'base URL (--base-url, CQBATCH_BASE_URL)';

const goAround = 'list the host of the API in NO_PROXY to go without it';

const correctHost = `Correct host and port of the ${byBaseUrl}, or check that the service is up and`;
const correctToken = 'Correct the token (CQBATCH_TOKEN, --token-file, --token-command).';

const waitForLimit =
  'Continue when the limit of the API allows calls again. If the last rows alone are refused, correct them.';

const remedies: Readonly<Record<string, string>> = {
  HOST_NOT_FOUND: `Correct the host in the ${byBaseUrl}, or DNS.`,
  CONNECTION_REFUSED: `${correctHost} no firewall is in the way.`,
  CONNECT_TIMEOUT: `${correctHost} no firewall is in the way.`,
  CONNECT_FAILED: `${correctHost} no firewall is in the way.`,
  PROXY_UNREACHABLE: `Correct the proxy in that variable, or ${goAround}.`,
  PROXY_AUTHENTICATION:
    'Correct user name and password in that variable, as in http://user:password@proxy:3128.',
  PROXY_REFUSED: `Ask the administrator of the proxy, or ${goAround}.`,
  PROXY_BAD_GATEWAY: `${correctHost} the proxy may reach it.`,
  UNAUTHENTICATED: correctToken,
  TOKEN_UNREADABLE: correctToken,
  TOKEN_EMPTY: correctToken,
  TOKEN_MALFORMED: correctToken,
  UNIMPLEMENTED: `Correct the ${byBaseUrl} and its path prefix: nothing there takes this call.`,
  RESOURCE_EXHAUSTED: waitForLimit,
  PERMISSION_DENIED: `Check what the token allows, and correct the ${byBaseUrl} if it is wrong.`,
};

function remedy({ code, status = 0, class: kind }: ApiFailure): string {
  const known = remedies[code];
  if (known !== undefined) return known;
  if (status >= 500) return 'The service has a problem: continue when it works again.';
  if (status === 404 && kind === 'halt-early')
    return `Correct the ${byBaseUrl} and its path prefix: a 404 without JSON most likely comes from a router.`;
  if (status > 0)
    return `Correct the ${byBaseUrl} and its path prefix, unless the service really has none of the entries that these rows name.`;
  return `Correct the ${byBaseUrl}, or check that the service is up.`;
}
