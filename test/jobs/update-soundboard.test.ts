import { describe, expect, test } from 'vitest';
import { updateSoundboard as operation } from '../../jobs/update-soundboard.ts';
import { protobufFields } from '../../src/sandbox/request-fields.ts';
import { problems } from './problems.ts';

const whole = {
  soundboard_id: '9223372036854775807',
  file_name: 'a.wav',
  file_type: 'RECORDING_FILE_TYPE_NEW',
  title: '',
  description: 'd',
  date_created: 'yesterday',
  last_modified: '2024-05-01',
  file_size: '0',
  recording_length: 9223372036854775807n,
};

describe('the row schema', () => {
  test('accepts every field, with times and enums unchanged', () => {
    expect(operation.schema.parse(whole)).toEqual({ ...whole, recording_length: '9223372036854775807' });
  });

  test('needs something to change', () => {
    const problem =
      'changes nothing; give at least one of file_name, file_type, title, description, date_created, last_modified, file_size, recording_length';
    expect(problems(operation.schema, { soundboard_id: '5' })).toEqual([problem]);
    expect(problems(operation.schema, { soundboard_id: '5', user_id: 'u' })).toEqual([problem]);
    for (const { name } of operation.fields.slice(1))
      expect(problems(operation.schema, { soundboard_id: '5', [name]: '1' })).toEqual([]);
  });

  const range = 'must be a whole number from 0 to 9223372036854775807';

  test.each([
    [{ soundboard_id: undefined }, 'soundboard_id: missing; every row needs the column soundboard_id'],
    [{ file_size: '-1' }, `file_size: out of range; ${range}`],
    [{ file_size: '' }, `file_size: cannot be empty or cleared; ${range}`],
    [{ title: 5 }, 'title: must be text; in JSON write it in quotes'],
  ])('says what is wrong with %o', (fields, problem) => {
    expect(problems(operation.schema, { ...whole, ...fields })).toEqual([problem]);
  });
});

test.each([
  ['file_type', 'RECORDING_FILE_TYPE_MP3', true],
  ['file_type', 'RECORDING_FILE_TYPE_MP4', false],
  ['file_type', '', false],
  ['date_created', '2026-01-02T03:04:05.678+01:00', true],
  ['date_created', '02.01.2026', false],
  ['last_modified', '', false],
] as const)('%s %j is expected as a gateway reads it: %s', (field, value, isExpected) => {
  const { expectation } = operation.fields.find(({ name }) => name === field) ?? {};
  expect(expectation?.(value) === undefined).toBe(isExpected);
  const reader = field === 'file_type' ? protobufFields.fileType : protobufFields.time;
  const { success, data } = reader.safeParse(value);
  expect(success && data === value).toBe(isExpected);
});

describe('the request', () => {
  test('has only the fields of the row', () => {
    const row = operation.schema.parse({ soundboard_id: ' 9007199254740993 ', title: 'a\u0000"\n' });
    expect(operation.request(row).body).toBe(
      '{"soundboard":{"soundboard_id":"9007199254740993","title":"a\\u0000\\"\\n"}}',
    );
    expect(row[operation.subject]).toBe('9007199254740993');
  });
});

// What is refused: client.test.ts.
test('the check of the answer echoes the id', () => {
  const answer = operation.check('9007199254740993', { soundboard_id: 9007199254740993n });
  expect(answer).toEqual({ ok: true, columns: { soundboard_id: '9007199254740993' } });
  expect(operation.columns).toEqual(['soundboard_id']);
  expect(operation.check('5', { soundboard_id: 6 })).toMatchObject({ ok: false, code: 'ANSWER_ID_MISMATCH' });
});

test('no refusal means that the update has been made: the row may be repeated', () => {
  const failure = { code: 'ALREADY_EXISTS', message: 'is not deleted, already active' };
  expect(operation.meansAlreadyApplied(failure)).toBe(false);
});
