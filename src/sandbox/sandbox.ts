import type { AddressInfo } from 'node:net';
import { cannotListen } from '../errors.ts';
import { createControl, type SandboxControl } from './admin/control.ts';
import { createServer } from './http/server.ts';
import { readSettings, type SandboxOptions } from './options/options.ts';
import { RequestLog } from './request-log.ts';
import { Service } from './service/service.ts';

export type { SandboxOptions } from './options/options.ts';

/** A running sandbox. */
export interface Sandbox extends SandboxControl {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** The first of `tokens`. */
  readonly token: string;
  /** The tokens that were accepted at the start. */
  readonly tokens: readonly string[];
  /** Ends every connection, waiting answers included, and stops listening. May be called again. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the service of the interface document as a local server.
 *
 * @throws CqbatchError `INVALID_OPTION`, `INVALID_STATE`, and `CANNOT_LISTEN` when the port is taken or the address
 * is not one of this machine.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host, port, maxBody, ...settings } = await readSettings(options);
  const { tokens } = settings.service;
  const log = new RequestLog(settings.log);
  const service = new Service({ ...settings.service, log });
  const control = createControl(service, log, options);
  const server = createServer(service, control, { maxBody });
  try {
    await server.listen({ host, port });
  } catch (cause) {
    throw cannotListen(host, port, cause);
  }
  const address = server.server.address() as AddressInfo;
  return {
    ...control,
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    port: address.port,
    token: tokens[0],
    tokens,
    close: () => server.close(),
  };
}
