import { expect, test } from 'vitest';
import { decodeText } from '../../../../src/engine/api/network/content-encoding.ts';

const text = '{"a":"Grüße"}';
const bigEndian = (bytes: Buffer): Buffer => Buffer.from(bytes).swap16();
const utf16 = Buffer.from(text, 'utf16le');
const mark = Buffer.from('\ufeff', 'utf16le');
const marked = Buffer.concat([mark, utf16]);

test.each<[string, Buffer, string?]>([
  ['UTF-8', Buffer.from(text)],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), 'application/json; charset=latin1'],
  ['UTF-16 with a byte order mark', marked, 'application/json; charset=utf-8'],
  ['UTF-16, big-endian, with a byte order mark', bigEndian(marked)],
  ['UTF-16', utf16, 'application/json; charset=utf-16'],
  ['UTF-16, big-endian', bigEndian(utf16), 'application/json; charset="UTF-16"'],
  ['Latin-1', Buffer.from(text, 'latin1'), 'application/json; charset=ISO-8859-1'],
  ['Windows-1252', Buffer.from(text, 'latin1'), 'text/plain;odd; Charset="windows-1252"; x=1'],
  ['UTF-8 under an unknown name', Buffer.from(text), 'application/json; charset=utf8mb4'],
])('an answer in %s is read', (_title, bytes, contentType) => {
  expect(decodeText(bytes, contentType)).toBe(text);
});

test.each(['windows-1252', 'ISO-8859-1'])(
  'the euro sign and quotes of an answer in %s are read',
  (charset) => {
    expect(decodeText(Buffer.from([0x80, 0x93, 0x94]), `application/json; charset=${charset}`)).toBe('€“”');
  },
);

test('an empty answer, and bytes that are no text, are no error', () => {
  expect(decodeText(Buffer.alloc(0))).toBe('');
  expect(decodeText(Buffer.from([0xff]))).toBe('\ufffd');
});
