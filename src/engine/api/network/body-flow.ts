import { finished, type Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { ContentProblem } from './content-encoding.ts';

type Decoder = ReturnType<typeof createGunzip>;

/** Passes the body of an answer on, decompressed, and no faster than it is read. */
export class BodyFlow {
  readonly #target: Writable;
  readonly #encoding: string;
  #entrance: Writable | undefined;
  #decoder: Decoder | undefined;
  #problem: ContentProblem | undefined;

  /** @param encoding from `Content-Encoding` */
  constructor(target: Writable, encoding: string) {
    this.#target = target;
    this.#encoding = encoding.trim().toLowerCase();
  }

  write(chunk: Buffer, controller: Dispatcher.DispatchController): void {
    this.#entrance ??= this.#open(chunk);
    if (this.#problem !== undefined || this.#entrance.write(chunk)) return;
    controller.pause();
    this.#entrance.once('drain', () => controller.resume());
  }

  /** Resolves when the body is passed on. */
  async end(): Promise<ContentProblem | undefined> {
    if (this.#decoder !== undefined && this.#problem === undefined) {
      const decoded = promisify(finished)(this.#decoder);
      this.#decoder.end();
      await decoded.catch(() => {});
    }
    return this.#problem;
  }

  /** Of an answer that is lost. */
  abandon(): void {
    this.#decoder?.unpipe(this.#target);
    this.#decoder?.destroy();
  }

  #open(first: Buffer): Writable {
    const decoder = this.#decoderFor(first);
    if (decoder === undefined) return this.#target;
    decoder.on('error', ({ message }) => this.#fail('broken', message));
    decoder.pipe(this.#target, { end: false });
    this.#decoder = decoder;
    return decoder;
  }

  /** Some proxies decompress, and keep the headers: such bytes are taken as they are. */
  #decoderFor(first: Buffer): Decoder | undefined {
    switch (this.#encoding) {
      case '':
      case 'identity':
        return undefined;
      case 'gzip':
      case 'x-gzip':
        return first[0] === 0x1f ? createGunzip() : undefined;
      case 'br':
        return createBrotliDecompress();
    }
    this.#fail('unknown', 'not asked for');
    return undefined;
  }

  #fail(kind: ContentProblem['kind'], detail: string): void {
    this.#problem ??= { kind, encoding: this.#encoding, detail };
    // What waits for it to drain goes on, to the end of the answer.
    this.#decoder?.emit('drain');
  }
}
