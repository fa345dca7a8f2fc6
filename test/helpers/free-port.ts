import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port on which no process listens. It is below those that a system gives to connections, and to servers that ask for any port: none of
 * them takes it before it is used. A server in cluster mode also needs the port 10,000 above it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(11_000, 22_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
