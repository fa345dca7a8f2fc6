import { usageError } from '../../base/errors/errors.ts';

export interface BaseUrlOptions {
  /** Allows `http://` to hosts other than this machine, which sends the token unencrypted. Default: false. */
  readonly allowInsecureHttp?: boolean | undefined;
}

/**
 * Checks a base URL, and returns its canonical form: without a slash at the end, host in lower case, no default port. Keeps a path prefix.
 *
 * @throws CqbatchError (usage) with the remedy. The URL is not quoted, because it may hold credentials.
 */
export function parseBaseUrl(text: string, { allowInsecureHttp = false }: BaseUrlOptions = {}): string {
  const invalid = (problem: string) => usageError('BASE_URL_INVALID', `The base URL ${problem}`);
  if (typeof text !== 'string') throw invalid('is missing: pass one, such as https://api.example.com');
  const trimmed = text.trim();
  if (!/^https?:\/\//i.test(trimmed))
    throw invalid('must begin with https:// (or http://): write it as https://api.example.com');
  if (!URL.canParse(trimmed)) throw invalid('is not a valid URL: write it as https://api.example.com');
  const url = new URL(trimmed);
  if (url.pathname.includes('@') || url.search.includes('@') || url.hash.includes('@'))
    throw invalid(
      'contains an @ behind its host: leave user name and password out, or write %40 if it belongs to the path',
    );
  if (url.username !== '' || url.password !== '') {
    throw invalid(
      'contains a user name or password: leave them out; the token goes in CQBATCH_TOKEN, --token-file or --token-command',
    );
  }
  if (url.search !== '' || url.hash !== '')
    throw invalid('contains a query (?) or a fragment (#): leave them out');
  const prefix = url.pathname.replace(/\/+$/, '');
  if (/\/api\/v1alpha1$/.test(prefix)) {
    throw invalid('ends with /api/v1alpha1: remove that, because every request path has it');
  }
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url.hostname)) {
    throw usageError(
      'BASE_URL_INSECURE',
      `Plain http:// to ${url.hostname} would send the token unencrypted: use https://, or pass --allow-insecure-http`,
    );
  }
  return `${url.origin}${prefix}`;
}

/** Whether a host is this machine, as the URL parser normalizes hosts (RFC 6761, section 6.3; RFC 5735, section 3). */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
