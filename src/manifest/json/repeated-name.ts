import { LosslessNumber } from 'lossless-json';

/** A name that one object has twice. */
export interface RepeatedName {
  readonly name: string;
  /** Index of the character at which its second occurrence begins. */
  readonly index: number;
}

/**
 * Finds the first name that stands twice in one object of JSON text, however it is escaped.
 *
 * @param text JSON text that has been parsed, so it is known to be well-formed.
 * @param value what it was parsed to: of equal names it has the last one only.
 */
export function findRepeatedName(text: string, value: unknown): RepeatedName | undefined {
  // A colon follows every name: when there are no more colons than names in the value, no name was lost.
  if (countColons(text) === countNames(value)) return undefined;
  const openObjects: (Set<string> | undefined)[] = [];
  let stringStart = 0;
  let stringEnd = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text[index]) {
      case '"':
        stringStart = index;
        stringEnd = endOfString(text, index);
        index = stringEnd - 1;
        break;
      case '{':
        openObjects.push(new Set());
        break;
      case '[':
        openObjects.push(undefined);
        break;
      case '}':
      case ']':
        openObjects.pop();
        break;
      case ':': {
        const name: string = JSON.parse(text.slice(stringStart, stringEnd));
        const names = openObjects.at(-1);
        if (names?.has(name)) return { name, index: stringStart };
        names?.add(name);
      }
    }
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

/** Index after the closing quote of the string that opens at this index. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}
