import { finished, type Transform, type Writable } from 'node:stream';
import { promisify } from 'node:util';
import type { Dispatcher } from 'undici';
import { type ContentProblem, decodersOf } from './content-encoding.ts';

/** Passes the body of an answer on, decompressed, and no faster than it is read. */
export class BodyFlow {
  readonly #target: Writable;
  readonly #encoding: string;
  #entrance: Writable | undefined;
  /** The decoders of the body, of which each writes into the next. There is usually one. */
  #decoders: readonly Transform[] = [];
  #problem: ContentProblem | undefined;

  /** @param encoding the value of the header `Content-Encoding` */
  constructor(target: Writable, encoding: string) {
    this.#target = target;
    this.#encoding = encoding;
  }

  write(chunk: Buffer, controller: Dispatcher.DispatchController): void {
    this.#entrance ??= this.#open(chunk);
    if (this.#problem !== undefined || this.#entrance.write(chunk)) return;
    controller.pause();
    this.#entrance.once('drain', () => controller.resume());
  }

  /** Resolves when the whole body is passed on, with the problem of a body that can't be decompressed. */
  async end(): Promise<ContentProblem | undefined> {
    const last = this.#decoders.at(-1);
    if (last !== undefined && this.#problem === undefined) {
      const decoded = promisify(finished)(last);
      this.#decoders[0]?.end();
      await decoded.catch(() => {});
    }
    return this.#problem;
  }

  /** Stops passing on the body of an answer that is lost. */
  abandon(): void {
    this.#decoders.at(-1)?.unpipe(this.#target);
    for (const decoder of this.#decoders) decoder.destroy();
  }

  #open(start: Buffer): Writable {
    const decoders = decodersOf(this.#encoding, start);
    if (!Array.isArray(decoders)) {
      this.#problem = decoders;
      return this.#target;
    }
    const streams = decoders.map(({ stream }) => stream());
    for (const [index, decoder] of streams.entries()) {
      decoder.on('error', ({ message }) => this.#noteBroken(message));
      decoder.pipe(streams[index + 1] ?? this.#target, { end: index + 1 < streams.length });
    }
    this.#decoders = streams;
    return streams[0] ?? this.#target;
  }

  #noteBroken(detail: string): void {
    this.#problem ??= { kind: 'broken', encoding: this.#encoding, detail };
    // Resumes an answer that is paused until the decoder drains: the rest of it is read and dropped. Destroying the decoders ends `end`.
    this.#decoders[0]?.emit('drain');
    for (const decoder of this.#decoders) decoder.destroy();
  }
}
