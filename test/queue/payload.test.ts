import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowResult } from '../../src/domain.ts';
import {
  decodeResult,
  decodeTask,
  encodeResult,
  encodeTask,
  type RowTask,
  withAccountedClaims,
} from '../../src/queue/payload.ts';
import { anyHistory, anyResult, anyText } from '../journal/arbitraries.ts';

const anyTask: fc.Arbitrary<RowTask> = fc.record(
  {
    run: anyText,
    row: fc.integer({ min: 1 }),
    operation: anyText,
    subject: anyText,
    path: anyText,
    body: anyText,
    history: anyHistory,
    accountedClaims: fc.nat(),
  },
  {
    requiredKeys: ['run', 'row', 'operation', 'subject', 'path', 'body', 'accountedClaims'],
    noNullPrototype: true,
  },
);

const history = { attempts: 1, unprocessed: 0, unclear: true };
const task = { run: 'r', row: 1, operation: 'o', subject: 's', path: '/p', body: '{}', history };
const result = {
  row: 1,
  operation: 'o',
  outcome: 'succeeded',
  code: 'OK',
  message: '',
  attempts: 1,
  unclear: false,
  columns: { score: '87.5' },
};

const taskData = (value: unknown) => ({ v: 1, claims: 0, text: JSON.stringify(value) });

describe('a task', () => {
  test('comes back as it was, whatever it says', () => {
    fc.assert(
      fc.property(anyTask, (original) => {
        expect(decodeTask(encodeTask(original))).toEqual(original);
      }),
    );
  });

  test('goes through the datastore as text that PostgreSQL takes', () => {
    fc.assert(
      fc.property(anyTask, (original) => {
        expect(encodeTask(original).text).not.toMatch(/[\0\p{Cs}]/u);
      }),
    );
  });

  test('can be given another number of accounted claims without being read', () => {
    expect(withAccountedClaims({ v: 2, claims: 1, text: '?' }, 3)).toEqual({ v: 2, claims: 3, text: '?' });
  });

  test.each<[string, unknown]>([
    ['another version', { v: 2, claims: 0, text: '{}' }],
    ['no version', {}],
    ['no claims', { v: 1, text: '{}' }],
    ['no text', { v: 1, claims: 0 }],
    ['an object for its text', { v: 1, claims: 0, text: {} }],
  ])('of %s is refused as UNKNOWN_PAYLOAD', (_, data) => {
    expect(() => decodeTask(data)).toThrow(
      expect.objectContaining({ kind: 'fatal', code: 'UNKNOWN_PAYLOAD' }),
    );
  });

  test.each<[string, unknown]>([
    ['row', null],
    ['row', []],
    ['row', '{}'],
    ['run', { ...task, run: undefined }],
    ['run', { ...task, run: 1 }],
    ['row', { ...task, row: '1' }],
    ['operation', { ...task, operation: null }],
    ['subject', { ...task, subject: 5 }],
    ['path', { ...task, path: undefined }],
    ['body', { ...task, body: {} }],
    ['history', { ...task, history: null }],
    ['history', { ...task, history: [] }],
    ['attempts', { ...task, history: {} }],
    ['unprocessed', { ...task, history: { ...history, unprocessed: '0' } }],
    ['unclear', { ...task, history: { ...history, unclear: 'no' } }],
    ['startedAt', { ...task, history: { ...history, startedAt: null } }],
    ['lastCode', { ...task, history: { ...history, lastCode: 1 } }],
    ['lastMessage', { ...task, history: { ...history, lastMessage: {} } }],
    ['lastStatus', { ...task, history: { ...history, lastStatus: '500' } }],
  ])('with a malformed %s is refused: %j', (name, value) => {
    expect(() => decodeTask(taskData(value))).toThrow(malformed(name));
  });

  test('whose text is cut off is refused', () => {
    expect(() => decodeTask({ v: 1, claims: 0, text: '{"run":' })).toThrow(SyntaxError);
  });

  test('is read without what a later program may have added', () => {
    const added = { ...task, colour: 'red', history: { ...history, mood: 'good' } };
    expect(decodeTask(taskData(added))).toEqual({ ...task, accountedClaims: 0 });
  });
});

describe('a result', () => {
  test('comes back as it was, from the JSON string and from its text', () => {
    const unprocessed = fc.option(fc.nat(), { nil: undefined });
    fc.assert(
      fc.property(anyResult(), unprocessed, (known, refused) => {
        const original: RowResult = refused === undefined ? known : { ...known, unprocessed: refused };
        const encoded = encodeResult(original);
        expect(decodeResult(encoded)).toEqual(original);
        expect(decodeResult(JSON.stringify(encoded))).toEqual(original);
      }),
    );
  });

  test.each<[string, unknown]>([
    ['result', null],
    ['result', 5],
    ['result', []],
    ['row', { ...result, row: undefined }],
    ['row', { ...result, row: null }],
    ['operation', { ...result, operation: 1 }],
    ['outcome', { ...result, outcome: 'done' }],
    ['outcome', { ...result, outcome: undefined }],
    ['code', { ...result, code: 0 }],
    ['message', { ...result, message: null }],
    ['httpStatus', { ...result, httpStatus: '200' }],
    ['attempts', { ...result, attempts: '1' }],
    ['unprocessed', { ...result, unprocessed: false }],
    ['unclear', { ...result, unclear: 'no' }],
    ['startedAt', { ...result, startedAt: 0 }],
    ['finishedAt', { ...result, finishedAt: null }],
    ['durationMs', { ...result, durationMs: '5' }],
    ['duplicateOf', { ...result, duplicateOf: '7' }],
    ['columns', { ...result, columns: [] }],
    ['columns', { ...result, columns: 'score' }],
    ['score', { ...result, columns: { score: 87.5 } }],
  ])('with a malformed %s is refused: %j', (name, value) => {
    expect(() => decodeResult(JSON.stringify(value))).toThrow(malformed(name));
    expect(() => decodeResult(JSON.stringify(JSON.stringify(value)))).toThrow(malformed(name));
  });

  test('with a number beyond all bounds is refused', () => {
    const text = JSON.stringify(result).replace('"attempts":1', '"attempts":1e999');
    expect(() => decodeResult(text)).toThrow(malformed('attempts'));
  });

  test.each(['', '{"row":', undefined])('that is no JSON is refused: %j', (value) => {
    expect(() => decodeResult(value)).toThrow(SyntaxError);
  });

  test('is read without what a later program may have added', () => {
    expect(decodeResult(JSON.stringify({ ...result, colour: 'red' }))).toEqual(result);
  });
});

function malformed(name: string): TypeError {
  return new TypeError(`Data of a row in the datastore are malformed: ${name}`);
}
