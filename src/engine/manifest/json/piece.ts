import { LosslessNumber } from 'lossless-json';
import { parseJson } from '../../../base/text/json.ts';
import { excerpt } from '../../rows/problem.ts';
import { TextMistake } from '../text/mistake.ts';

export type ParsedPiece =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      /** A repeated name is well-formed JSON, but which value is meant is unknown. */
      readonly code: 'MANIFEST_SYNTAX' | 'MANIFEST_REPEATED_NAME';
      readonly problem: string;
      readonly index: number;
    };

export function parsePiece(text: string): ParsedPiece {
  let value: unknown;
  const { stackTraceLimit } = Error;
  try {
    // Errors are made without stacks: in a file with a million broken lines, stacks would take most of the time.
    Error.stackTraceLimit = 0;
    value = parseJson(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [suffix, index] = /\s*\(?at position (\d+)\)?/.exec(message) ?? ['', '0'];
    return { ok: false, code: 'MANIFEST_SYNTAX', problem: message.replace(suffix, ''), index: Number(index) };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  const repeated = findRepeatedName(text, value);
  if (repeated === undefined) return { ok: true, value };
  const { name, index } = repeated;
  return { ok: false, code: 'MANIFEST_REPEATED_NAME', problem: repeatedName(name), index };
}

/** Parses a piece of JSON. @throws TextMistake when the piece at this offset is not valid */
export function valueAt(text: string, offset: number): unknown {
  const parsed = parsePiece(text);
  if (parsed.ok) return parsed.value;
  throw new TextMistake(parsed.code, offset + Buffer.byteLength(text.slice(0, parsed.index)), parsed.problem);
}

export function repeatedName(name: string): string {
  return `"${excerpt(name)}" appears twice in this object; keep one of them`;
}

/**
 * Finds a name that one object has twice, however it is escaped, and the index of the second.
 *
 * @param value the parsed text, in which the last of equal names wins
 */
function findRepeatedName(
  text: string,
  value: unknown,
): { readonly name: string; readonly index: number } | undefined {
  // A colon follows every name: with as many names in the value as colons, none was lost.
  if (countColons(text) === countNames(value)) return undefined;
  const openObjects: (Set<string> | undefined)[] = [];
  let nameStart = 0;
  let nameEnd = 0;
  const mark = /["{}[\]:]/g;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    if (found[0] === '"') {
      nameStart = found.index;
      nameEnd = mark.lastIndex = endOfString(text, nameStart);
    } else if (found[0] === ':') {
      const name: string = JSON.parse(text.slice(nameStart, nameEnd));
      const names = openObjects.at(-1);
      if (names?.has(name)) return { name, index: nameStart };
      names?.add(name);
    } else if (found[0] === '{' || found[0] === '[')
      openObjects.push(found[0] === '{' ? new Set() : undefined);
    else openObjects.pop();
  }
  return undefined;
}

function countColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) count++;
  return count;
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) count += countNames(element);
  } else {
    for (const name in value) count += 1 + countNames((value as Record<string, unknown>)[name]);
  }
  return count;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}
