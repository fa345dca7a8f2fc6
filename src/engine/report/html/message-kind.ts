/** Stands for a part of a message that differs from row to row. */
export const differingPart = '…';

/** The longest kind, in characters. */
const longestKind = 300;
/** The longest value that is compared. A longer one counts as different. */
const longestValue = 100;

/** The kind of a message, and the values that messages of this kind may have instead. */
export interface MessageParts {
  /** The beginning of the message, with `…` for each value. It ends with a whole character, because an address has no halves. */
  readonly kind: string;
  /** The values in the order of `…` in the kind. Undefined if too long to be compared. */
  readonly values: readonly (string | undefined)[];
}

/**
 * A word, with the signs inside a date, a time, an address or an identifier; or `…` itself, so that each `…` of a kind stands for a value.
 * No sign can be matched in two ways, so that the time is linear.
 */
const word = /…|[\p{L}\p{M}\p{N}]+(?:(?:[-_.]|[:,](?<=\p{N}[:,])(?=\p{N}))[\p{L}\p{M}\p{N}]+)*/gu;

/** A word with a digit, eight letters that may be hexadecimal, or sixteen that may be base32. */
const value = /…|\p{N}|^[a-f]{8,}$|^[A-F]{8,}$|^[a-z]{16,}$|^[A-Z]{16,}$/u;

/** Divides a message into its kind and its values: numbers, words with digits, hexadecimal and base32 identifiers. */
export function messageParts(message: string): MessageParts {
  const values: (string | undefined)[] = [];
  let [kind, end] = ['', 0];
  const append = (text: string): void => {
    // A character of a text may consist of two units.
    kind += text.slice(0, 2 * longestKind);
  };
  for (const { 0: part, index } of message.matchAll(word)) {
    if (kind.length >= 2 * longestKind) break;
    if (!value.test(part)) continue;
    append(message.slice(end, index));
    append(differingPart);
    values.push(part.length > longestValue ? undefined : part);
    end = index + part.length;
  }
  append(message.slice(end));
  if (kind.length <= longestKind) return { kind, values };
  const cut = [...kind.slice(0, 2 * longestKind)].slice(0, longestKind).join('');
  return { kind: cut, values: values.slice(0, cut.split(differingPart).length - 1) };
}

/** The kind of a message. */
export function messageKind(message: string): string {
  return messageParts(message).kind;
}
