import { Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { type CqbatchError, usageError } from '../../errors.ts';
import { isLoopback } from '../base-url.ts';

/** The HTTP proxy on the way to the API. */
export interface HttpProxy {
  /** Without user name and password: `http://proxy.example.com:3128`. */
  readonly url: string;
  /** The variable that names it. */
  readonly variable: string;
  /** Value of `Proxy-Authorization`, when the variable holds a user name. */
  readonly authorization?: string;
}

export interface ProxyOptions {
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` stand, or their forms in small letters, which go first. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly allowInsecureHttp?: boolean | undefined;
}

/**
 * The proxy that the variables want for this base URL, if they want one. Without `HTTPS_PROXY`, that of `HTTP_PROXY`
 * counts for `https://` as well.
 *
 * @throws CqbatchError (usage) when the proxy's URL can't be used, or the token would travel through it in the clear. The
 *   URL is not quoted, because it may hold a password.
 */
export function chooseProxy(
  baseUrl: string,
  { variables, allowInsecureHttp = false }: ProxyOptions,
): HttpProxy | undefined {
  const { origin, protocol, hostname } = new URL(baseUrl);
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY', ...anyProxy] : anyProxy;
  const variable = names.find((name) => variables[name]?.trim());
  if (variable === undefined) return undefined;
  const proxy = parseProxy(variable, variables[variable] ?? '');
  if (isExempt(origin, variables['no_proxy'] || variables['NO_PROXY'] || '')) return undefined;
  if (protocol === 'http:' && !allowInsecureHttp && !isLoopback(new URL(proxy.url).hostname)) {
    throw usageError(
      'PROXY_INSECURE',
      `Plain http:// through the proxy ${describeProxy(proxy)} would send the token in the clear: set NO_PROXY=${hostname} ` +
        'to go without it, use https://, or pass --allow-insecure-http',
    );
  }
  return proxy;
}

/** A proxy for people: `http://proxy.example.com:3128 (HTTPS_PROXY)`. */
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
  // Most programs take `proxy:3128`, too.
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  if (!URL.canParse(full)) throw invalid('is no valid URL');
  const { protocol, origin, username, password } = new URL(full);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw invalid('is no HTTP proxy; others, such as SOCKS, are not known');
  }
  if (username === '' && password === '') return { url: origin, variable };
  try {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { url: origin, variable, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  } catch {
    throw invalid('has a "%" in its user name or password that has to be written "%25"');
  }
}

/** Whether NO_PROXY exempts an origin: undici decides it for every call, so it is asked rather than imitated. */
function isExempt(origin: string, noProxy: string): boolean {
  let exempt = true;
  const somewhere = 'http://proxy.invalid';
  const agent = new EnvHttpProxyAgent({
    httpProxy: somewhere,
    httpsProxy: somewhere,
    noProxy,
    factory(_origin, options) {
      // Behind a proxy, connections are made in a way of their own.
      exempt = typeof (options as { readonly connect?: unknown }).connect !== 'function';
      return new Nowhere();
    },
  });
  agent.dispatch({ origin, method: 'POST', path: '/' }, {});
  void agent.destroy();
  return exempt;
}

/** Takes requests and sends them nowhere. */
class Nowhere extends Dispatcher {
  override dispatch(): boolean {
    return true;
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }
}

/** A connection that did not come about because of the proxy, so that nothing was sent to the API. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly proxy: HttpProxy;
  /** What the proxy answered to CONNECT, or why it gave no answer. */
  readonly trouble: { readonly status: number } | { readonly cause: Error };

  constructor(proxy: HttpProxy, trouble: ProxyError['trouble']) {
    super('The proxy fails');
    this.proxy = proxy;
    this.trouble = trouble;
  }
}

/**
 * A dispatcher that reaches every server by CONNECT through the proxy, also for plain `http://`: the proxy is told the
 * server's name and gets to see no header.
 */
export function tunnelDispatcher(
  proxy: HttpProxy,
  {
    connectTimeout,
    ...pool
  }: Omit<Pool.Options, 'connect' | 'factory'> & { readonly connectTimeout: number },
): Dispatcher {
  const { url, authorization } = proxy;
  return new EnvHttpProxyAgent({
    ...pool,
    httpProxy: url,
    httpsProxy: url,
    // The choice for the proxy has been made.
    noProxy: '',
    proxyTunnel: true,
    ...(authorization !== undefined && { token: authorization }),
    proxyTls: { timeout: connectTimeout },
    requestTls: { timeout: connectTimeout },
    // The proxy has to connect as well before it answers.
    clientFactory: (origin, options) =>
      new ProxyPool(origin, { ...options, headersTimeout: 2 * connectTimeout }, proxy),
  });
}

type ConnectOptions = Dispatcher.ConnectOptions<null>;
type ConnectData = Dispatcher.ConnectData<null>;

/** Connections to the proxy, each of which becomes a tunnel. */
class ProxyPool extends Pool {
  readonly #proxy: HttpProxy;

  constructor(origin: URL, options: Pool.Options, proxy: HttpProxy) {
    super(origin, options);
    this.#proxy = proxy;
  }

  /**
   * Gives every failure a class of its own. Nothing else tells the proxy's from the server's, and undici would take a
   * connection that the proxy closes for one to be opened again, at once and without end.
   */
  override async connect(options: ConnectOptions): Promise<ConnectData> {
    let tunnel: ConnectData;
    try {
      tunnel = await super.connect(options);
    } catch (cause) {
      throw new ProxyError(this.#proxy, { cause: cause as Error });
    }
    const { statusCode: status, socket } = tunnel;
    if (status === 200) return tunnel;
    socket.on('error', () => {}).destroy();
    throw new ProxyError(this.#proxy, { status });
  }
}
