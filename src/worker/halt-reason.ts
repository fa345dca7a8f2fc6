import type { ApiFailure } from '../api/failure.ts';
import { type CqbatchError, fatalError } from '../errors.ts';
import type { Halt } from './circuit-breaker.ts';

/** Why no more calls are made, for people: what was asked, what came back, what to correct. */
export function haltReason(baseUrl: string, { because, calls, lastedMs, ...last }: Halt): CqbatchError {
  if (because === 'unproven') {
    const tries = calls === 1 ? '1 try' : `${calls} tries`;
    return fatalError('API_UNPROVEN', `No call has succeeded so far, after ${tries}. ${told(baseUrl, last)}`);
  }
  const minutes = Math.max(1, Math.round(lastedMs / 60_000));
  return fatalError(
    'API_AWAY',
    `The API has been away for ${minutes} min, and --max-outage allows no more. ${told(baseUrl, last)}`,
  );
}

/** The same for a single answer that says enough: a wrong token, base URL or permission. */
export function refusalReason(baseUrl: string, path: string, failure: ApiFailure): CqbatchError {
  return fatalError('API_REFUSES', `No row can succeed. ${told(baseUrl, { path, failure })}`);
}

function told(baseUrl: string, { path, failure }: Pick<Halt, 'path' | 'failure'>): string {
  const { code, message, status } = failure;
  const answer = `${message.replace(/\.$/, '')} (${status === undefined ? '' : `HTTP ${status}, `}${code})`;
  return `Asked: ${baseUrl}${path}. Came back: ${answer}. ${remedy(failure)}`;
}

const byBaseUrl = 'base URL (--base-url, CQBATCH_BASE_URL)';

const goAround = 'list the host of the API in NO_PROXY to go without it';

function remedy({ code, status = 0 }: ApiFailure): string {
  switch (code) {
    case 'HOST_NOT_FOUND':
      return `Correct the host in the ${byBaseUrl}, or mend the name service.`;
    case 'CONNECTION_REFUSED':
    case 'CONNECT_TIMEOUT':
    case 'CONNECT_FAILED':
      return `Correct host and port of the ${byBaseUrl}, or see whether the service is up and no firewall is in the way.`;
    case 'PROXY_UNREACHABLE':
      return `Correct the proxy in that variable, or ${goAround}.`;
    case 'PROXY_AUTHENTICATION':
      return 'Correct user name and password in that variable, as in http://user:password@proxy:3128.';
    case 'PROXY_REFUSED':
      return `Ask who runs the proxy, or ${goAround}.`;
    case 'PROXY_BAD_GATEWAY':
      return `Correct host and port of the ${byBaseUrl}, or see whether the service is up and the proxy may reach it.`;
    case 'UNAUTHENTICATED':
    case 'TOKEN_UNREADABLE':
    case 'TOKEN_EMPTY':
    case 'TOKEN_MALFORMED':
      return 'Correct the token (CQBATCH_TOKEN, --token-file).';
    case 'PERMISSION_DENIED':
      return `See what the token permits, and correct the ${byBaseUrl} if it is wrong.`;
  }
  if (status >= 500) return 'The service is in trouble: go on when it works again.';
  if (status > 0)
    return `Correct the ${byBaseUrl}, unless the service really has nothing that these rows name.`;
  return `Correct the ${byBaseUrl}, or see whether the service is up.`;
}
