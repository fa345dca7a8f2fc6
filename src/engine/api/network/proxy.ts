import { type CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { howToEncode, urlParts } from '../../../base/text/url-parts.ts';
import { isLoopback } from '../base-url.ts';

export interface HttpProxy {
  /** The URL of the proxy without user name and password: `http://proxy.example.com:3128`. */
  readonly url: string;
  readonly variable: string;
  /** The value of the header `Proxy-Authorization`, when the variable has a user name. */
  readonly authorization?: string;
}

export interface ProxyOptions {
  /** The variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; their lower-case forms take precedence. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly allowInsecureHttp?: boolean | undefined;
}

/**
 * Chooses the proxy. Without `HTTPS_PROXY`, `HTTP_PROXY` counts for `https://`, too.
 *
 * @throws CqbatchError (usage) when the proxy's URL can't be used, or the token would travel through it unencrypted. The URL is not quoted,
 * because it may contain a password.
 */
export function chooseProxy(
  baseUrl: string,
  { variables, allowInsecureHttp = false }: ProxyOptions,
): HttpProxy | undefined {
  const url = new URL(baseUrl);
  const { protocol, hostname } = url;
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY', ...anyProxy] : anyProxy;
  const variable = names.find((name) => variables[name]?.trim());
  if (variable === undefined) return undefined;
  const proxy = parseProxy(variable, variables[variable] ?? '');
  if (isExempt(url, variables['no_proxy'] || variables['NO_PROXY'] || '')) return undefined;
  if (protocol === 'http:' && !allowInsecureHttp && !isLoopback(new URL(proxy.url).hostname)) {
    throw usageError(
      'PROXY_INSECURE',
      `Plain http:// through the proxy ${describeProxy(proxy)} would send the token unencrypted: set NO_PROXY=${hostname} ` +
        'to bypass the proxy, use https://, or pass --allow-insecure-http',
    );
  }
  return proxy;
}

export function describeProxy({ url, variable }: HttpProxy): string {
  return `${url} (${variable})`;
}

const anyProxy: readonly string[] = ['http_proxy', 'HTTP_PROXY'];

function parseProxy(variable: string, text: string): HttpProxy {
  const invalid = (problem: string): CqbatchError =>
    usageError(
      'PROXY_INVALID',
      `${variable} ${problem}: write it as http://proxy.example.com:3128, or unset it`,
    );
  const trimmed = text.trim();
  const full = urlParts(trimmed) === undefined ? `http://${trimmed}` : trimmed;
  // The check reads backslashes as slashes, as URLs do.
  if (urlParts(full.replaceAll('\\', '/'))?.isPasswordCut) throw invalid(`${howToEncode}, and \\ (%5C)`);
  if (!URL.canParse(full)) throw invalid('is not a valid URL');
  const { protocol, origin, username, password } = new URL(full);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw invalid('is not an HTTP proxy; others, such as SOCKS, are not supported');
  }
  if (username === '' && password === '') return { url: origin, variable };
  try {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { url: origin, variable, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  } catch {
    throw invalid('has a "%" in its user name or password: write it as "%25"');
  }
}

/** Whether `NO_PROXY` excludes a host. It names hosts and domains, optionally with a port, or all hosts with an asterisk. */
function isExempt({ protocol, hostname, port }: URL, noProxy: string): boolean {
  if (noProxy === '*') return true;
  const ownPort = Number(port) || (protocol === 'https:' ? 443 : 80);
  const entries = noProxy.toLowerCase().split(/[,\s]+/);
  return entries.some((entry) => {
    const [, name = entry, onlyPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
    const domain = name.replace(/^\*?\./, '');
    const isThere = domain !== '' && `.${hostname}`.endsWith(`.${domain}`);
    return isThere && (Number(onlyPort ?? 0) || ownPort) === ownPort;
  });
}

/** An error of the proxy: nothing was sent to the API. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly proxy: HttpProxy;
  readonly trouble: { readonly status: number } | { readonly cause: Error };

  constructor(proxy: HttpProxy, trouble: ProxyError['trouble']) {
    super('The proxy fails');
    this.proxy = proxy;
    this.trouble = trouble;
  }
}
