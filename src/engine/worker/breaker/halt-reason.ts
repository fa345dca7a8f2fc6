import { type CqbatchError, fatalError } from '../../../base/errors/errors.ts';
import { duration } from '../../../base/text/format.ts';
import type { ApiFailure } from '../../api/failure.ts';
import type { BreakerHalt } from './health-evidence.ts';

/** The reason of a halt: what failed, and what to correct. */
export function haltReason(
  baseUrl: string,
  { because, calls, lastedMs, ...last }: BreakerHalt,
): CqbatchError {
  if (because === 'unproven')
    return fatalError(
      'API_UNPROVEN',
      accountOf(baseUrl, last, { tries: calls === 1 ? '1 try' : `${calls} tries` }),
    );
  const what = because === 'refusals' ? 'has refused every call' : 'has been away';
  return fatalError(
    'API_AWAY',
    `The API ${what} for ${duration(lastedMs / 1_000)}, longer than --max-outage allows: ${accountOf(baseUrl, last, { isFirst: false })}`,
  );
}

/** The reason of a halt for a wrong token, base URL or permission, which a single answer shows. */
export function refusalReason(baseUrl: string, path: string, failure: ApiFailure): CqbatchError {
  return fatalError('API_REFUSES', accountOf(baseUrl, { path, failure }));
}

/** `https://api.example.com refuses connections (2 tries). Check …` */
function accountOf(
  baseUrl: string,
  last: Pick<BreakerHalt, 'path' | 'failure' | 'cause'>,
  { tries = '', isFirst = true } = {},
): string {
  const { path, failure } = last;
  const { code, message, status } = failure;
  const what = message.replace(/\.$/, '');
  const answer = status === undefined ? '' : `HTTP ${status}`;
  const said = (sentence: string, ...facts: readonly string[]): string => {
    const known = facts.filter((fact) => fact !== '');
    return `${sentence}${known.length === 0 ? '' : ` (${known.join(', ')})`}. ${remedyOf(last, isFirst)}`;
  };
  if (code === 'CONNECTION_REFUSED') return said(`${baseUrl} refuses connections`, tries);
  if (code === 'UNAUTHENTICATED') return said(what, answer, tries);
  return said(`${baseUrl}${path}: ${what}`, answer, code, tries);
}

const baseUrlText = 'base URL (--base-url, CQBATCH_BASE_URL)';

const adviceToAvoidProxy = 'list the host of the API in NO_PROXY to go without it';

const adviceToCheckHost = `Check host and port of the ${baseUrlText}, that the API is up, and that`;
const adviceToCheckToken = 'Check CQBATCH_TOKEN, --token-file or --token-command.';

const adviceToWaitForLimit =
  'Continue when the limit of the API allows calls again. If the last rows alone are refused, correct them.';

const remedies: Readonly<Record<string, string>> = {
  HOST_NOT_FOUND: `Correct the host in the ${baseUrlText}, or DNS.`,
  CONNECTION_REFUSED: `${adviceToCheckHost} no firewall is in the way.`,
  CONNECT_TIMEOUT: `${adviceToCheckHost} no firewall is in the way.`,
  CONNECT_FAILED: `${adviceToCheckHost} no firewall is in the way.`,
  LOCAL_LIMIT: 'Raise that limit ("ulimit -v unlimited" for memory, "ulimit -n 1024" for files).',
  PROXY_UNREACHABLE: `Correct the proxy in that variable, or ${adviceToAvoidProxy}.`,
  PROXY_AUTHENTICATION:
    'Correct user name and password in that variable, as in http://user:password@proxy:3128.',
  PROXY_REFUSED: `Ask the administrator of the proxy, or ${adviceToAvoidProxy}.`,
  PROXY_BAD_GATEWAY: `${adviceToCheckHost} the proxy may reach it.`,
  UNAUTHENTICATED: adviceToCheckToken,
  TOKEN_UNREADABLE: adviceToCheckToken,
  TOKEN_EMPTY: adviceToCheckToken,
  TOKEN_MALFORMED: adviceToCheckToken,
  UNIMPLEMENTED: `Correct the ${baseUrlText} and its path prefix: nothing there takes this call.`,
  RESOURCE_EXHAUSTED: adviceToWaitForLimit,
  PERMISSION_DENIED: `Check what the token allows, and correct the ${baseUrlText} if it is wrong.`,
};

/** Advice after calls that may have been processed: the user must look before anything is called again. */
const adviceToLookFirst =
  'These calls may have been processed: look at their rows (report.csv, column _unclear) in the service. ' +
  '"cqbatch resume" calls them again and keeps them marked.';

function remedyOf({ cause, failure }: Pick<BreakerHalt, 'failure' | 'cause'>, isFirst: boolean): string {
  if (cause === 'done')
    return `Correct the ${baseUrlText} and its path prefix: a router may have answered. If they are right, first run a row that can succeed, from a manifest of its own; after its success, such refusals count, and "cqbatch resume" goes on.`;
  if (cause === 'unread')
    return `${adviceToLookFirst} If another service has answered, correct the ${baseUrlText} and its path prefix.`;
  return isFirst && failure.unclear
    ? `${remedyOfFailure(failure)} ${adviceToLookFirst}`
    : remedyOfFailure(failure);
}

function remedyOfFailure({ code, status = 0, class: kind }: ApiFailure): string {
  const known = remedies[code];
  if (known !== undefined) return known;
  if (status >= 500) return 'The API has a problem: continue when it works again.';
  if (status === 404 && kind === 'halt-early')
    return `Correct the ${baseUrlText} and its path prefix: a 404 without JSON most likely comes from a router.`;
  if (status > 0)
    return `Correct the ${baseUrlText} and its path prefix, unless the API really has none of the entries that these rows name.`;
  return `Correct the ${baseUrlText}, or check that the API is up.`;
}
