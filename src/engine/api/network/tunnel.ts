import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { connectWithin } from '../../../base/connect-attempt.ts';
import { type HttpProxy, ProxyError } from './proxy.ts';

/** Reaches every server by CONNECT, even for plain `http://`: the proxy learns the server's name and sees no header. */
export function tunnelDispatcher(
  proxy: HttpProxy,
  {
    connect,
    ...pool
  }: Omit<Pool.Options, 'connect' | 'factory'> & { readonly connect: ReturnType<typeof connectWithin> },
): Dispatcher {
  const { url, authorization } = proxy;
  return new EnvHttpProxyAgent({
    ...pool,
    httpProxy: url,
    httpsProxy: url,
    // The dispatcher must not exempt hosts again: `chooseProxy` has already applied `NO_PROXY`.
    noProxy: '',
    proxyTunnel: true,
    ...(authorization !== undefined && { token: authorization }),
    proxyTls: connect,
    requestTls: connect,
    // The proxy must connect to the server before it answers, so it gets the time-out of both connections.
    clientFactory: (origin, options) =>
      new ProxyPool(origin, { ...options, headersTimeout: 2 * connect.timeout }, proxy),
  });
}

type ConnectOptions = Dispatcher.ConnectOptions<null>;
type ConnectData = Dispatcher.ConnectData<null>;

class ProxyPool extends Pool {
  readonly #proxy: HttpProxy;

  constructor(origin: URL, options: Pool.Options, proxy: HttpProxy) {
    super(origin, options);
    this.#proxy = proxy;
  }

  /**
   * Throws errors of a class of their own: nothing else distinguishes a failure of the proxy from one of the server, and undici would
   * reopen a connection that the proxy closes, at once and without end.
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
