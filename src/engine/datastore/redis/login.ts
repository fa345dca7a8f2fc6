import type { Redis } from 'ioredis';
import type { PasswordFile } from './address.ts';

/** Gives connections that try again the latest password. */
export class Login {
  readonly #file: PasswordFile | undefined;
  readonly #onPassword: (password: string) => void;
  #password: string | undefined;
  #reading: Promise<void> | undefined;

  /** @param onPassword called with each new password */
  constructor(file: PasswordFile | undefined, onPassword: (password: string) => void) {
    this.#file = file;
    this.#onPassword = onPassword;
  }

  keepIn({ options }: Redis): void {
    if (this.#file === undefined) return;
    const { password: first } = options;
    Object.defineProperty(options, 'password', { get: () => this.#password ?? first, enumerable: true });
  }

  /** Refusals at the same time share one read. */
  readAgain(): Promise<void> {
    this.#reading ??= this.#readPassword().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readPassword(): Promise<void> {
    const password = await this.#file?.readPassword();
    if (password === undefined || password === this.#password) return;
    this.#password = password;
    this.#onPassword(password);
  }
}
