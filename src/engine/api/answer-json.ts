import { PassThrough } from 'node:stream';
import { parseJson } from '../../base/text/json.ts';
import type { TokenMask } from './token/token-mask.ts';

/** Some services begin their JSON with it, so that no page can include it as a script. */
const prefix = /^\)\]\}',?[ \t]*\r?\n/;

/** Serializers of some languages write these, which JSON does not have. */
const notANumber = /-?\b(?:NaN|Infinity)\b/g;

/**
 * Like `parseJson`, and also reads what careless services send: `NaN` and `Infinity` as null, and `)]}',` before the JSON.
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

/** Leaves strings alone. A regular expression would take quadratic time for hostile text. */
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
