import { Cluster } from 'ioredis';
import type { PasswordFile } from './address.ts';
import type { RedisClient } from './client.ts';

/** The password of all connections to Redis. Connections try again by themselves, each time with the latest password. */
export class Login {
  readonly #file: PasswordFile | undefined;
  readonly #onPassword: (password: string) => void;
  #password: string | undefined;
  #reading: Promise<void> | undefined;

  /** @param onPassword called with each other password that was read */
  constructor(file: PasswordFile | undefined, onPassword: (password: string) => void) {
    this.#file = file;
    this.#onPassword = onPassword;
  }

  /** Gives the latest password to a client at each attempt to connect. */
  keepIn(client: RedisClient): void {
    if (this.#file === undefined) return;
    const options = optionsOf(client);
    const { password: first } = options;
    Object.defineProperty(options, 'password', { get: () => this.#password ?? first, enumerable: true });
  }

  /** Reads the file again, after Redis has refused the password. Refusals at the same time share one read. */
  readAgain(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const password = await this.#file?.read();
    if (password === undefined || password === this.#password) return;
    this.#password = password;
    this.#onPassword(password);
  }
}

/** The options that ioredis reads for each connection; a Cluster has a copy for connections to its nodes. */
function optionsOf(client: RedisClient): { readonly password?: string | undefined } {
  if (!(client instanceof Cluster)) return client.options;
  const { connectionPool } = client as unknown as { connectionPool: { redisOptions: { password?: string } } };
  return connectionPool.redisOptions;
}
