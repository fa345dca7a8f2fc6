import { describe, expect, test } from 'vitest';
import { restoreEvaluation } from '../../../jobs/restore-evaluation.ts';
import { updateSoundboard } from '../../../jobs/update-soundboard.ts';
import { changeSince, compareEntry, type EntryComparison } from '../../../src/engine/list/compare-entry.ts';
import type { KnownEntry } from '../../../src/engine/list/listed-entries.ts';
import type { Operation } from '../../../src/engine/operation/operation.ts';
import type { Row } from '../../../src/engine/operation/row-fields.ts';

const listOf = ({ list }: Operation) => list ?? expect.fail('the operation has a list');

/** Entry 7 as it is listed; what the service leaves out is absent. */
const there = {
  title: 'Old',
  file_name: 'a.wav',
  file_size: '5',
  date_created: '2024-01-01T00:00:00Z',
  last_modified: '2024-01-01T00:00:00Z',
};
const entry: KnownEntry = { fields: { soundboard_id: '7', ...there } };

const compared = (values: Row, old?: Row, known: KnownEntry | undefined = entry): EntryComparison =>
  compareEntry(
    updateSoundboard,
    listOf(updateSoundboard),
    { values: { soundboard_id: '7', ...values }, old },
    known,
  );

describe('a row for an entry', () => {
  test.each<{ readonly when: string; readonly values: Row; readonly whole: Row; readonly old: Row }>([
    {
      when: 'changes one field',
      values: { title: 'New' },
      whole: { ...there, title: 'New' },
      old: { title: 'Old' },
    },
    {
      when: 'has the other fields as they are',
      values: { ...there, title: 'New' },
      whole: { ...there, title: 'New' },
      old: { title: 'Old' },
    },
    {
      when: 'clears a field',
      values: { title: '' },
      whole: { ...there, title: '' },
      old: { title: 'Old' },
    },
    {
      when: 'fills fields that the service leaves out: an empty text, a number 0',
      values: { description: 'x', recording_length: '9' },
      whole: { ...there, description: 'x', recording_length: '9' },
      old: { description: '', recording_length: '0' },
    },
    {
      when: 'has another value of a field that the service computes',
      values: { title: 'New', last_modified: '2026-01-01T00:00:00Z' },
      whole: { ...there, title: 'New' },
      old: { title: 'Old' },
    },
    {
      when: 'changes it for another reason than its old value, which is right',
      values: { title: 'New', file_size: '6' },
      whole: { ...there, title: 'New', file_size: '6' },
      old: { title: 'Old', file_size: '5' },
    },
  ])('that $when sends the whole entry', ({ values, whole, old }) => {
    expect(compared(values, { title: 'Old' })).toEqual({
      kind: 'changes',
      values: { soundboard_id: '7', ...whole },
      old,
    });
  });

  test.each<{ readonly when: string; readonly values: Row; readonly old?: Row }>([
    { when: 'gives the whole entry', values: there },
    { when: 'gives a part of it', values: { title: 'Old' } },
    { when: 'gives what the service leaves out', values: { description: '', recording_length: '0' } },
    { when: 'writes a time in another zone', values: { date_created: '2024-01-01T01:00:00+01:00' } },
    { when: 'only differs in what the service computes', values: { ...there, last_modified: 'x' } },
    { when: 'was carried out already', values: { title: 'Old' }, old: { title: 'Older' } },
  ])('that $when changes nothing', ({ values, old }) => {
    expect(compared(values, old)).toEqual({ kind: 'as wanted' });
  });

  test.each<{ readonly when: string; readonly known: KnownEntry | undefined; readonly problem: string }>([
    { when: 'is not listed', known: undefined, problem: 'does not exist' },
    { when: 'does not fit', known: { fields: {}, unfit: 'is locked' }, problem: 'is locked' },
  ])('that $when must not be called', ({ known, problem }) => {
    const comparison = compareEntry(
      updateSoundboard,
      listOf(updateSoundboard),
      { values: { soundboard_id: '7', title: 'New' } },
      known,
    );
    expect(comparison).toEqual({
      kind: 'misfit',
      problem: { column: 'soundboard_id', problem, value: '7' },
    });
  });

  test.each<{ readonly old: Row; readonly values: Row; readonly problem: string }>([
    {
      old: { title: 'Older' },
      values: { title: 'New' },
      problem: 'the entry is different: title is "Old" now',
    },
    {
      old: { description: 'x' },
      values: { description: 'y' },
      problem: 'the entry is different: description is empty now',
    },
  ])('with an old value that is not there is a conflict: $problem', ({ old, values, problem }) => {
    const [[field, value] = []] = Object.entries(old);
    expect(compared(values, old)).toEqual({
      kind: 'misfit',
      problem: { column: `old_${field}`, problem, value },
    });
  });
});

describe('an operation whose list only names entries', () => {
  const values = { evaluation_id: '7', user_id: 'u' };
  const deleted: KnownEntry = { fields: { evaluation_id: '7' } };

  test('is called for each of them', () => {
    const comparison = compareEntry(restoreEvaluation, listOf(restoreEvaluation), { values }, deleted);
    expect(comparison).toEqual({ kind: 'changes', values, old: {} });
  });

  test('is not called for others', () => {
    const comparison = compareEntry(restoreEvaluation, listOf(restoreEvaluation), { values }, undefined);
    expect(comparison).toMatchObject({
      problem: {
        column: 'evaluation_id',
        problem:
          'is not deleted (perhaps restored already; by whom and when is not known), or does not exist',
      },
    });
  });
});

describe('before a compared row is called', () => {
  /** The row changes the title, and has the rest as it was. */
  const row = { values: { soundboard_id: '7', ...there, title: 'New' }, old: { title: 'Old' } };
  const now = (fields: Row): KnownEntry => ({ fields: { ...entry.fields, ...fields } });
  const since = (known: KnownEntry | undefined) =>
    changeSince(updateSoundboard, listOf(updateSoundboard), row, known, true);

  test.each<{ readonly entry: string; readonly known: KnownEntry }>([
    { entry: 'is as it was', known: entry },
    { entry: 'is as the row wants it', known: now({ title: 'New' }) },
    { entry: 'was computed again', known: now({ last_modified: '2027-01-01T00:00:00Z' }) },
    { entry: 'has an empty text that was left out', known: now({ description: '' }) },
  ])('it may be called if its entry $entry', ({ known }) => {
    expect(since(known)).toBeUndefined();
  });

  test.each<{ readonly what: string; readonly known: KnownEntry | undefined }>([
    { what: 'title was "Old", and is "Theirs" now', known: now({ title: 'Theirs' }) },
    { what: 'description was empty, and is "Theirs" now', known: now({ description: 'Theirs' }) },
    {
      what: 'title was "Old", and is "New" now; file_size was "5", and is "6" now',
      known: now({ title: 'New', file_size: '6' }),
    },
    { what: 'does not exist', known: undefined },
    { what: 'is locked', known: { ...entry, unfit: 'is locked' } },
  ])('it is not called if its entry has changed: $what', ({ what, known }) => {
    expect(since(known)).toBe(what);
  });

  test.each([
    { mayBeDone: true, outcome: 'called again, as its own call may have done it', change: undefined },
    { mayBeDone: false, outcome: 'not called', change: expect.stringMatching(/^is not deleted/) },
  ])('a row whose entry is no longer listed is $outcome', ({ mayBeDone, change }) => {
    const values = { evaluation_id: '7', user_id: 'u' };
    const found = changeSince(restoreEvaluation, listOf(restoreEvaluation), { values }, undefined, mayBeDone);
    expect(found).toEqual(change);
  });
});
