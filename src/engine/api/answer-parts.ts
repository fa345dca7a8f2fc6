import { PassThrough } from 'node:stream';
import { parseAnswer } from './answer-json.ts';
import type { TokenMask } from './token/token-mask.ts';

/**
 * After each pause, undici takes what its socket has read meanwhile, 64 kB and more. A buffer that holds no more than that would never catch
 * up: the data would wait in the socket, without a bound.
 */
const highWaterMark = 1024 * 1024;

/** Takes the body of a 2xx answer as it comes, for answers that are too large to hold. A call has its own. */
export class AnswerParts {
  /** Decompressed. Ends with the call, also with one that fails, whose answer says why. */
  readonly bytes = new PassThrough({ highWaterMark });
  /** Of the token with which the answer came. */
  mask: TokenMask | undefined;

  /** @throws SyntaxError */
  parse(text: string): unknown {
    const value = parseAnswer(text);
    return this.mask === undefined ? value : this.mask.json(value, text);
  }
}
