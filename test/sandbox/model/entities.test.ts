import { expect, test } from 'vitest';
import { readIdentifier, readInteger, restored, updated } from '../../../src/sandbox/model/entities.ts';
import { generateEvaluation, generateSoundboard } from '../../../src/sandbox/model/generate.ts';

test('a restored evaluation has lost its deletion, in its sections too, and nothing else', () => {
  const deleted = generateEvaluation(1, 1);
  const { deleted_at, deleted_by, evaluation_sections = [], ...rest } = deleted;
  expect(deleted_by).toMatch(/^supervisor-/);

  const result = restored(deleted);
  expect(JSON.stringify(Object.keys(result))).not.toContain('deleted');
  expect(result).toEqual({
    ...rest,
    evaluation_sections: evaluation_sections.map(({ deleted_at: sectionDeletedAt, ...section }) => {
      expect(sectionDeletedAt).toBe(deleted_at);
      return section;
    }),
  });
});

const soundboard = generateSoundboard(1, 3);
const time = '2025-06-01T12:00:00Z';

test('an update that keeps omitted fields changes the given ones and last_modified', () => {
  expect(updated(soundboard, { title: '', file_size: 0 }, 'keep', time)).toEqual({
    ...soundboard,
    title: '',
    file_size: 0,
    last_modified: time,
  });
});

test('an update that resets omitted fields leaves the given ones, date_created and last_modified', () => {
  expect(updated(soundboard, { title: 'New' }, 'reset', time)).toEqual({
    soundboard_id: 3,
    date_created: soundboard.date_created,
    title: 'New',
    last_modified: time,
  });
});

test.each(['keep', 'reset'] as const)(
  'a given last_modified does not count (%s), a given date_created does',
  (omitted) => {
    const given = { last_modified: 'yesterday', date_created: 'long ago' };
    expect(updated(soundboard, given, omitted, time)).toMatchObject({
      last_modified: time,
      date_created: 'long ago',
    });
  },
);

test.each([
  [0, 0],
  [-5, -5],
  ['17', 17],
  ['-17', -17],
  [9007199254740993n, 9007199254740993n],
  ['9007199254740993', 9007199254740993n],
  ['0012', 12],
])('%o is the integer %o', (value, integer) => {
  expect(readInteger(value)).toBe(integer);
});

test.each([
  1.5,
  Number.NaN,
  2 ** 53,
  '',
  '1.0',
  '1e3',
  ' 1',
  '0x10',
  '12345678901234567890',
  null,
  true,
  [],
  {},
])('%o is no integer', (value) => {
  expect(readInteger(value)).toBeUndefined();
});

test.each([
  [1, 1],
  [9223372036854775807n, 9223372036854775807n],
  ['9223372036854775807', 9223372036854775807n],
  [0, undefined],
  [-1, undefined],
  [9223372036854775808n, undefined],
  ['9223372036854775808', undefined],
])('%o as an identifier is %o', (value, identifier) => {
  expect(readIdentifier(value)).toBe(identifier);
});
