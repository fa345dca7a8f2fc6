import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messageParts } from '../../../../src/engine/report/html/message-kind.ts';
import { anyText } from '../../journal/arbitraries.ts';

test.each<readonly [message: string, kind: string, values: readonly string[]]>([
  ['evaluation 17 is not deleted', 'evaluation … is not deleted', ['17']],
  ['The server answered 200, but not with JSON', 'The server answered …, but not with JSON', ['200']],
  [
    'user u-17 of 3f2b8c1e-0a4d-4c58-9d1a-5b6c7d8e9f00',
    'user … of …',
    ['u-17', '3f2b8c1e-0a4d-4c58-9d1a-5b6c7d8e9f00'],
  ],
  ['transaction 12a was aborted', 'transaction … was aborted', ['12a']],
  ['transaction deadbeef was aborted', 'transaction … was aborted', ['deadbeef']],
  ['trace MFRGGZDFMZTWQ2LK of abcdefghijklmnop', 'trace … of …', ['MFRGGZDFMZTWQ2LK', 'abcdefghijklmnop']],
  ['POST /api/v1alpha1/evaluations/17:restore', 'POST /api/…/evaluations/…:restore', ['v1alpha1', '17']],
  ['ended on 2026-11-30T20:18:06.123Z.', 'ended on ….', ['2026-11-30T20:18:06.123Z']],
  ['127.0.0.1:17412 refused 1,060 calls', '… refused … calls', ['127.0.0.1:17412', '1,060']],
  ['id:17, in digits only (1-18)', 'id:…, in digits only (…)', ['17', '1-18']],
  ['FAILED_PRECONDITION: a well-known word', 'FAILED_PRECONDITION: a well-known word', []],
  ['it ended with …', 'it ended with …', ['…']],
  ['no number', 'no number', []],
  ['', '', []],
])('the kind of "%s" is "%s"', (message, kind, values) => {
  expect(messageParts(message)).toEqual({ kind, values });
});

test('a long kind is cut behind a whole character, and has no values beyond it', () => {
  expect(messageParts('😀'.repeat(400))).toEqual({ kind: '😀'.repeat(300), values: [] });
  expect(messageParts(`${'x '.repeat(149)}12 34 56`)).toEqual({
    kind: `${'x '.repeat(149)}… `,
    values: ['12'],
  });
});

test('any message is its kind with its values', () => {
  fc.assert(
    fc.property(anyText, (message) => {
      const { kind, values } = messageParts(message);
      const [start = '', ...texts] = kind.split('…');
      expect(texts.reduce((text, next, place) => `${text}${values[place]}${next}`, start)).toBe(message);
    }),
  );
});

test('a value too long to be compared is unknown', () => {
  expect(messageParts(`token ${'1'.repeat(10_000)}`)).toEqual({ kind: 'token …', values: [undefined] });
});
