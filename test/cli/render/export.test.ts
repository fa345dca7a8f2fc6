import { expect, test } from 'vitest';
import { restoreEvaluation } from '../../../jobs/restore-evaluation.ts';
import { updateSoundboard } from '../../../jobs/update-soundboard.ts';
import type { Flags } from '../../../src/cli/config.ts';
import {
  type Export,
  exportText,
  exportWarnings,
  nothingText,
  planCommand,
  readingText,
} from '../../../src/cli/render/export.ts';
import type { ListingOperation } from '../../../src/engine/list/chosen-entries.ts';
import type { Operation } from '../../../src/engine/operation/operation.ts';
import type { Settings } from '../../../src/settings/settings.ts';

interface Counts {
  readonly listed?: number;
  readonly repeats?: number;
  readonly unreadable?: number;
  readonly chosen?: number;
  readonly leftOut?: number;
  readonly unfit?: number;
  readonly waitMs?: number;
  readonly silentMs?: number;
}

function exportWith({
  listed = 0,
  repeats = 0,
  unreadable = 0,
  chosen = 0,
  leftOut,
  unfit,
  waitMs,
  silentMs = 0,
}: Counts): Export {
  const choice = {
    chosen,
    leftOut: leftOut ?? 0,
    undecided: 0,
    incomparable: ['x'],
    whyNothing: () => 'No row.',
  };
  const until = performance.now() + (waitMs ?? 0);
  return {
    reader: {
      listed,
      repeats,
      unreadable,
      pages: 1,
      silentMs,
      waiting: waitMs === undefined ? undefined : { until, why: 'Retry-After: 90' },
    },
    entries: {
      operation: restoreEvaluation as ListingOperation,
      chosen,
      choice: leftOut === undefined ? undefined : choice,
      unfit: new Map(unfit === undefined ? [] : [['is not recoverable', unfit]]),
    },
  };
}

test.each([
  { counts: { listed: 1, chosen: 1 }, text: 'Deleted evaluations: 1 listed, 1 chosen.' },
  {
    counts: { listed: 1_240, chosen: 412, leftOut: 825, unfit: 3 },
    text: 'Deleted evaluations: 1,240 listed, 412 chosen, 825 not chosen, 3 left out (is not recoverable: 3).',
  },
])('an export says what it saw and chose: $text', ({ counts, text }) => {
  expect(exportText(exportWith(counts))).toBe(text);
});

test.each([
  { counts: {}, text: 'The service lists no deleted evaluations.' },
  { counts: { listed: 5, leftOut: 5 }, text: 'No row.' },
  {
    counts: { listed: 3, unfit: 3 },
    text: 'Deleted evaluations: 3 listed, 0 chosen, 3 left out (is not recoverable: 3).',
  },
])('an export of nothing says why: $text', ({ counts, text }) => {
  expect(nothingText(exportWith(counts))).toBe(text);
});

test.each([
  { counts: { listed: 1_000, chosen: 10 }, text: '1,000 listed, 10 chosen' },
  {
    counts: { waitMs: 90_000, silentMs: 9_000 },
    text: '0 listed, 0 chosen  waiting 1 min 30 s (Retry-After: 90)',
  },
  { counts: { silentMs: 12_000 }, text: '0 listed, 0 chosen  no answer for 12 s' },
])('progress says how far it is, and what it waits for: $text', ({ counts, text }) => {
  const { reader, entries } = exportWith(counts);
  expect(readingText(entries.operation.list, reader, entries.chosen)).toBe(`deleted evaluations: ${text}`);
});

test('a list that has changed, entries without an identifier and cells without a comparison are warned of', () => {
  expect(exportWarnings(exportWith({ listed: 9, repeats: 2, unreadable: 1, leftOut: 1 }))).toEqual([
    expect.stringMatching(
      /^the list of .* has changed while it was read \(an entry was listed again 2 times\)/,
    ),
    expect.stringMatching(/^1 of the entries listed have no readable evaluation_id/),
    'x',
  ]);
  expect(exportWarnings(exportWith({ listed: 9 }))).toEqual([]);
});

const builtIn: readonly Operation[] = [restoreEvaluation, updateSoundboard];
const other: Operation = { ...updateSoundboard, name: 'retire-soundboard' };

test.each<{
  readonly title: string;
  readonly file: string;
  readonly operation: Operation;
  readonly operations?: readonly Operation[];
  readonly settings?: Settings;
  readonly flags?: Flags;
  readonly command: string;
}>([
  {
    title: 'what the operation needs',
    file: 'a b.csv',
    operation: restoreEvaluation,
    command: 'cqbatch plan "a b.csv" --user-id ID',
  },
  {
    title: 'nothing that is set',
    file: 'a.csv',
    operation: restoreEvaluation,
    settings: { default: { user_id: 'u' } },
    command: 'cqbatch plan a.csv',
  },
  {
    title: 'a comparison, where rows edit entries',
    file: 'a.csv',
    operation: updateSoundboard,
    flags: { rate: '1/s', out: 'a.csv' },
    command: 'cqbatch plan a.csv --compare',
  },
  {
    title: 'the operation where columns fit two',
    file: 'a.csv',
    operation: updateSoundboard,
    operations: [...builtIn, other],
    command: 'cqbatch plan a.csv --operation update-soundboard --compare',
  },
])('the next command has $title', ({ file, operation, operations = builtIn, settings = {}, command }) => {
  expect(planCommand(file, operation as ListingOperation, { operations, settings })).toBe(command);
});
