import { expect, test } from 'vitest';
import { markedText, textOfBytes } from '../../../src/base/text/marked-text.ts';

const utf16 = Buffer.from('\ufeffä🎧', 'utf16le');

test.each([
  ['no mark', Buffer.from('ä🎧')],
  ['the mark of UTF-8', Buffer.from('\ufeffä🎧')],
  ['the mark of UTF-16, as PowerShell writes', utf16],
  ['the mark of UTF-16 in the other order', Buffer.from(utf16).swap16()],
])('a text with %s is read without it', (_what, bytes) => {
  expect(markedText(bytes)).toBe('ä🎧');
});

test('a text is decoded whole, also at its end', () => {
  expect(textOfBytes(Buffer.from([0x80, 0x41]), 'windows-1252')).toBe('€A');
  expect(textOfBytes(Buffer.from([0x41, 0xe2, 0x82]))).toBe('A\ufffd');
});
