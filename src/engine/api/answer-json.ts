import { PassThrough } from 'node:stream';
import { parseJson } from '../../base/text/json.ts';
import type { TokenMask } from './token/token-mask.ts';

/** Some services begin their JSON with `)]}',`, so that no page can include the answer as a script. */
const prefix = /^\)\]\}',?[ \t]*\r?\n/;

/** Serializers of some languages write `NaN` and `Infinity`, which JSON does not have. */
const notANumber = /-?\b(?:NaN|Infinity)\b/g;

/**
 * Parses JSON as `parseJson` does, and also reads what careless services send: `NaN` and `Infinity` as null, and `)]}',` before the JSON.
 *
 * @throws the SyntaxError of the text as it is
 */
export function parseAnswer(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const read = nullsForNoNumbers(text.replace(prefix, ''));
    if (read === text) throw error;
    try {
      return parseJson(read);
    } catch {
      throw error;
    }
  }
}

/** Writes null for `NaN` and `Infinity` outside strings. A regular expression would take quadratic time for hostile text. */
function nullsForNoNumbers(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const opening = text.indexOf('"', at);
    if (opening < 0) {
      parts.push(text.slice(at).replace(notANumber, 'null'));
      break;
    }
    let closing = opening + 1;
    while (closing < text.length && text[closing] !== '"') closing += text[closing] === '\\' ? 2 : 1;
    parts.push(text.slice(at, opening).replace(notANumber, 'null'), text.slice(opening, closing + 1));
    at = closing + 1;
  }
  return parts.join('');
}

/**
 * After each pause, undici takes what its socket has read meanwhile, 64 kB and more. A buffer that holds no more than 64 kB would never
 * catch up: the data would wait in the socket, without a bound.
 */
const highWaterMark = 1024 * 1024;

/** Takes the body of a 2xx answer in parts, for answers that are too large for memory. Each call has its own object. */
export class AnswerParts {
  /** The decompressed body. The stream ends with the call, even with a call that fails: its answer then says why. */
  readonly bytes = new PassThrough({ highWaterMark });
  /** Hides the token with which the answer came. */
  mask: TokenMask | undefined;

  /** Parses the JSON of a part of the body, without the token. @throws SyntaxError */
  parse(text: string): unknown {
    const value = parseAnswer(text);
    return this.mask === undefined ? value : this.mask.json(value, text);
  }
}
