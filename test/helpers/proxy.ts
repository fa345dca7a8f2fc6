import type { IncomingHttpHeaders } from 'node:http';
import { RequestError, Server, type ServerOptions } from 'proxy-chain';
import { onTestFinished } from 'vitest';

/** What a client asked a proxy for. */
export interface SeenByProxy {
  /** `api.example.com:443` */
  readonly target: string;
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface TestProxy {
  /** Without user name and password. */
  readonly url: string;
  readonly seen: readonly SeenByProxy[];
}

export interface TestProxyOptions {
  /** Clients that do not send it get a 407. */
  readonly user?: string;
  readonly password?: string;
  /** Answers CONNECT with this status. */
  readonly refuse?: number;
  /** Speaks TLS itself. */
  readonly https?: { readonly key: string; readonly cert: string };
}

/** A real HTTP proxy on loopback, of the package proxy-chain; it stops after the test. */
export async function startProxy({
  user,
  password,
  refuse,
  https,
}: TestProxyOptions = {}): Promise<TestProxy> {
  const seen: SeenByProxy[] = [];
  const options: ServerOptions = {
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction({ request, hostname, port, username: givenUser, password: givenPassword }) {
      seen.push({ target: `${hostname}:${port}`, method: request.method, headers: request.headers });
      if (refuse !== undefined) throw new RequestError('refused by the test', refuse);
      return {
        requestAuthentication: user !== undefined && (givenUser !== user || givenPassword !== password),
      };
    },
  };
  const proxy = new Server(
    https === undefined ? options : { ...options, serverType: 'https', httpsOptions: https },
  );
  await proxy.listen();
  onTestFinished(() => proxy.close(true));
  return { url: `${https === undefined ? 'http' : 'https'}://127.0.0.1:${proxy.port}`, seen };
}
