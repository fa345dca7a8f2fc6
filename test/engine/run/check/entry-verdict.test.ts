import { expect, test } from 'vitest';
import { updateSoundboard } from '../../../../jobs/update-soundboard.ts';
import { defineOperation, type Operation } from '../../../../src/engine/operation/operation.ts';
import type { Row } from '../../../../src/engine/operation/row-fields.ts';
import {
  verdictByFields,
  verdictOfListed,
  verdictOfSeen,
} from '../../../../src/engine/run/check/entry-verdict.ts';

const tagging = defineOperation({
  name: 'tag-call',
  thing: 'call',
  summary: 's',
  fields: { id: { type: 'integer', required: true }, tags: { type: 'json' }, secret: { type: 'text' } },
  subject: 'id',
  request: () => ({ path: '/' }),
  interpret: () => ({ ok: true, value: {} }),
  columns: {},
  repeatable: true,
  list: {
    name: 'calls',
    request: () => ({ path: '/' }),
    entries: 'calls',
    fields: ['id', 'tags'],
    columns: {},
  },
});

/** The verdict on a row with these values, when the service lists the entry with these. */
function judged(operation: Operation, values: Row, listed: Row | undefined) {
  const { list, subject } = operation;
  if (list === undefined) throw new Error('the operation has a list');
  const id = { [subject]: '7' };
  const entry = listed && { fields: { ...id, ...listed } };
  return verdictByFields({ values: { ...id, ...values } }, { ...operation, list }, entry);
}

const time = '2026-11-16T10:00:00Z';

test.each([
  { row: 'the value that is there', sent: { title: 'New' }, listed: { title: 'New' }, there: '' },
  { row: 'another value', sent: { title: 'New' }, listed: { title: 'Old' }, there: 'title is "Old"' },
  { row: 'a value that is left out', sent: { title: 'New' }, listed: {}, there: 'title is empty' },
  { row: 'an empty text that is left out', sent: { title: '' }, listed: {}, there: '' },
  { row: 'brackets as a text', sent: { title: '[]' }, listed: {}, there: 'title is empty' },
  { row: 'an empty text', sent: { title: '' }, listed: { title: 'Old' }, there: 'title is "Old"' },
  { row: 'a zero that is left out', sent: { file_size: '0' }, listed: {}, there: '' },
  { row: 'a number', sent: { file_size: '8' }, listed: { file_size: '9' }, there: 'file_size is 9' },
  { row: 'a number that is left out', sent: { file_size: '8' }, listed: {}, there: 'file_size is empty' },
  {
    row: 'two other values',
    sent: { title: 'New', description: 'd', file_size: '8' },
    listed: { title: 'Old "x"', description: 'e', file_size: '8' },
    there: 'title is "Old \\"x\\"", description is "e"',
  },
  {
    row: 'nothing about a field',
    sent: { title: 'New' },
    listed: { title: 'New', description: 'x' },
    there: '',
  },
  {
    row: 'what the service sets',
    sent: { last_modified: time },
    listed: { last_modified: 'other' },
    there: '',
  },
  {
    row: 'a time in another zone',
    sent: { date_created: time },
    listed: { date_created: '2026-11-16T11:00:00.000+01:00' },
    there: '',
  },
  {
    row: 'another time',
    sent: { date_created: time },
    listed: { date_created: '2026-11-16T10:00:01Z' },
    there: 'date_created is "2026-11-16T10:00:01Z"',
  },
  {
    row: 'a text that looks like a time',
    sent: { title: time },
    listed: { title: '2026-11-16T11:00:00+01:00' },
    there: 'title is "2026-11-16T11:00:00+01:00"',
  },
  {
    row: 'a long text',
    sent: { title: 'New' },
    listed: { title: 'x'.repeat(500) },
    there: expect.stringMatching(/^title is "x{79,80}…?"$/),
  },
])('a row that sends $row', ({ sent, listed, there }) => {
  const check = there === '' ? 'as_wanted' : 'not_as_wanted';
  expect(judged(updateSoundboard, sent, listed)).toEqual({ check, there });
});

test.each([
  { title: 'New', description: 'other', check: 'as_wanted' },
  { title: 'Old', description: 'd', check: 'not_as_wanted' },
  { title: 'New', file_size: '8', check: 'not_as_wanted' },
])('of a compared row, only what it changes is judged: $title, $file_size', ({ check, ...listed }) => {
  const { list } = updateSoundboard;
  if (list === undefined) throw new Error('the operation has a list');
  const values = { soundboard_id: '7', title: 'New', description: 'd' };
  const row = { values, old: { title: 'Old', file_size: '8' }, compared: true } as const;
  expect(verdictByFields(row, { ...updateSoundboard, list }, { fields: listed })).toMatchObject({ check });
});

test.each([
  { sent: { tags: '[]' }, listed: {}, check: 'as_wanted' },
  { sent: { tags: '["a"]' }, listed: { tags: '["a"]' }, check: 'as_wanted' },
  { sent: { tags: '["a"]' }, listed: { tags: '["b"]' }, check: 'not_as_wanted' },
  { sent: { secret: 'not listed' }, listed: {}, check: 'as_wanted' },
])('$sent against $listed is $check', ({ sent, listed, check }) => {
  expect(judged(tagging, sent, listed)).toMatchObject({ check });
});

test('an entry that is not listed is gone', () => {
  expect(judged(updateSoundboard, { title: 'x' }, undefined)).toEqual({
    check: 'gone',
    there: 'does not exist',
  });
});

test.each([
  { entry: {}, there: 'is still among the open calls' },
  { entry: { unfit: 'is locked' }, there: 'is still among the open calls, and is locked' },
])('an entry that should have left the list $there', ({ entry, there }) => {
  expect(verdictOfListed({ name: 'open-calls' }, entry)).toEqual({ check: 'not_as_wanted', there });
});

test.each([
  { seen: { is: 'done' }, verdict: { check: 'as_wanted', there: '' } },
  { seen: { is: 'gone' }, verdict: { check: 'gone', there: 'does not exist' } },
  { seen: { is: 'different', what: 'is x' }, verdict: { check: 'not_as_wanted', there: 'is x' } },
] as const)('an entry that has left the list and $seen', ({ seen, verdict }) => {
  expect(verdictOfSeen(seen)).toEqual(verdict);
});
