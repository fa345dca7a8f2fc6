/** White space, zero-width characters and marks of direction. */
const blank = /[\s\p{Cf}]/u;

/** No identifier has any, because two identifiers would look the same. */
const unseenCharacter = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlankAt(text, start)) start++;
  while (end > start && isBlankAt(text, end - 1)) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

function isBlankAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code > 0x20 && code < 0x7f ? false : blank.test(text.charAt(index));
}

export function isBlank(text: string): boolean {
  return trimBlanks(text) === '';
}

/** Whether a text has invisible characters other than white space. */
export function hasUnseen(text: string): boolean {
  return unseenCharacter.test(text);
}
