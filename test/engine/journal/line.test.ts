import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeEntry,
  decodeHeader,
  decodeResult,
  encodeEntry,
  encodeHeader,
  encodeResult,
  resultLineIn,
} from '../../../src/engine/journal/line.ts';
import { anyEntry, anyResult, anyText, resultOf } from './arbitraries.ts';

test('every entry is one line, for any reader of lines, and is read back exactly', () => {
  fc.assert(
    fc.property(anyEntry(), (entry) => {
      const line = encodeEntry(entry);
      expect(line.match(/[\n\r\v\f\u0085\u2028\u2029]/g)).toEqual(['\n']);
      expect(decodeEntry(Buffer.from(line).toString().slice(0, -1))).toStrictEqual(entry);
    }),
  );
});

test('every result has one line, which tells its row, is read back exactly, and is the line of its entry', () => {
  fc.assert(
    fc.property(anyResult(), (result) => {
      const encoded = encodeResult(result);
      expect(resultLineIn(encoded.line)).toEqual(encoded);
      const entry = decodeResult(encoded);
      expect(entry).toStrictEqual({ type: 'row', result, line: encoded.line });
      expect(`${encoded.line}\n`).toBe(encodeEntry({ type: 'row', result }));
    }),
  );
});

test.each(['{"open":1}', '{"op":"o","row":1}', '{"row":"1",', ' {"row":1,', ''])(
  'a line that does not begin with the row of a result is none: %s',
  (line) => {
    expect(resultLineIn(line)).toBeUndefined();
  },
);

test('a line that has been encoded is the line of its entry', () => {
  const line = '{"row":1,"outcome":"succeeded","code":"OK","of":"a later version"}';
  expect(encodeEntry({ type: 'row', result: resultOf(1), line })).toBe(`${line}\n`);
});

test('every run id is read back from the header', () => {
  fc.assert(
    fc.property(anyText, (run) => {
      expect(decodeHeader(encodeHeader(run).slice(0, -1))).toEqual({ kind: 'known', run });
    }),
  );
});

test.each([
  ['{"journal":2,"run":"r"}', { kind: 'unknown-version', version: 2 }],
  ['{"journal":"1","run":"r"}', { kind: 'no-journal' }],
  ['{"journal":1}', { kind: 'no-journal' }],
  ['{"row":1,"outcome":"succeeded","code":"OK"}', { kind: 'no-journal' }],
  ['evaluation_id,user_id', { kind: 'no-journal' }],
  ['', { kind: 'no-journal' }],
])('the first line %s is not taken for a header of this version', (line, expected) => {
  expect(decodeHeader(line)).toEqual(expected);
});

test('keys with empty values are left out', () => {
  expect(encodeEntry({ type: 'row', result: resultOf(17) })).toBe(
    '{"row":17,"op":"restore-evaluation","outcome":"succeeded","code":"OK","tries":1}\n',
  );
  expect(encodeEntry({ type: 'open', row: 3, history: { attempts: 0, unprocessed: 0, unclear: true } })).toBe(
    '{"open":3,"unclear":true}\n',
  );
  expect(encodeEntry({ type: 'fed', first: 1, last: 25, batch: 'b-1' })).toBe(
    '{"fed":[1,25],"batch":"b-1"}\n',
  );
  expect(encodeEntry({ type: 'fed', first: 1, last: 25, batch: 'b-1', to: 'a1' })).toBe(
    '{"fed":[1,25],"batch":"b-1","to":"a1"}\n',
  );
  expect(encodeEntry({ type: 'settled' })).toBe('{"settled":true}\n');
  expect(encodeEntry({ type: 'accepted' })).toBe('{"accepted":true}\n');
});

test('keys that later versions add are ignored', () => {
  expect(decodeEntry('{"settled":true,"why":"halted"}')).toEqual({ type: 'settled' });
  expect(decodeEntry('{"row":1,"outcome":"failed","code":"X","shade":1,"earlier":[{"shade":1}]}')).toEqual({
    type: 'row',
    result: resultOf(1, { operation: '', outcome: 'failed', code: 'X', attempts: 0, earlier: [{}] }),
  });
});

test.each([
  ...['', 'null', '[]', '17', '{}', '{"settled":false}', '{"row":1,"outcome":"failed","code":"X"'],
  ...['{"row":0,"outcome":"failed","code":"X"}', '{"row":1.5,"outcome":"failed","code":"X"}'],
  ...['{"row":"1","outcome":"failed","code":"X"}', '{"row":1,"outcome":"lost","code":"X"}'],
  ...['{"row":1,"outcome":"failed"}', '{"open":1,"tries":"1"}', '{"open":1,"code":1}', '{"open":0}'],
  ...['{"fed":[1]}', '{"fed":[0,1]}', '{"fed":[1,2],"to":3}'],
])('the line %s is not an entry', (line) => {
  expect(decodeEntry(line)).toBeUndefined();
});

test('a value of another type makes the entry of a row invalid', () => {
  const good = { row: 1, outcome: 'failed', code: 'X' };
  expect(decodeEntry(JSON.stringify(good))).toBeDefined();
  const wrong: readonly object[] = [
    ...[{ op: 7 }, { msg: null }, { http: '200' }, { tries: '2' }, { unclear: 1 }, { start: 1 }, { end: 1 }],
    ...[{ ms: '1' }, { cols: ['a'] }, { cols: { a: 1 } }, { earlier: {} }, { earlier: [{ ms: '1' }] }],
  ];
  for (const value of wrong) expect(decodeEntry(JSON.stringify({ ...good, ...value }))).toBeUndefined();
});
