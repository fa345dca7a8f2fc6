import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Outcome } from '../../../../src/domain/terms.ts';
import type { RunState } from '../../../../src/engine/run/record/record.ts';
import { isCured, nextCommands } from '../../../../src/engine/run/report/next-commands.ts';
import { endedRetry, endedRun } from '../plan/ended-run.ts';
import { plannedRecord } from '../planned-record.ts';

/** The commands after a run of which these rows failed with codes, and those got other outcomes. */
function next(
  state: RunState,
  failed: readonly string[],
  more: { readonly retries?: readonly string[]; readonly retry_of?: string } = {},
  others: readonly (readonly [Outcome, string])[] = [['succeeded', 'OK']],
): readonly string[] {
  const codes = [...failed.map((code) => ['failed', code] as const), ...others];
  return nextCommands(
    { ...plannedRecord, id: 'r', state },
    {
      codes: codes.map(([outcome, code]) => ({ outcome, code, count: 1, message: '', row: 1 })),
      retries: [],
      retry_of: null,
      ...more,
    },
  );
}

const unsent = (code: string): readonly [Outcome, string][] => [['not_attempted', code]];
const passing = ['UNAVAILABLE', 'INTERNAL', 'ABORTED', 'UNKNOWN', 'HTTP_520'];

test.each([
  ['nothing has failed', [], []],
  ['nothing may pass', ['NOT_FOUND', 'HTTP_418'], []],
  ['all may pass', ['UNAVAILABLE'], ['cqbatch retry r']],
  ['some may pass', ['NOT_FOUND', 'HTTP_520'], ['cqbatch retry r --code HTTP_520']],
  ['too many codes to be read', ['NOT_FOUND', ...passing], ['cqbatch retry r']],
])('a run that is completed is retried where it may help: %s', (_title, codes, commands) => {
  expect(next('completed', codes, {}, [['invalid', 'INVALID_ROW']])).toEqual(commands);
  expect(next('completed', codes)).toEqual(commands);
});

test.each(['halted', 'interrupted', 'failed'] as const)('a run that is %s is resumed', (state) => {
  expect(next(state, ['UNAVAILABLE'], {}, unsent('HALTED'))).toEqual(['cqbatch resume r']);
});

test('a cancelled run is retried, with all unsent rows', () => {
  expect(next('cancelled', [], {}, unsent('CANCELLED'))).toEqual(['cqbatch retry r']);
  expect(next('cancelled', ['NOT_FOUND'], {}, unsent('CANCELLED'))).toEqual([
    'cqbatch retry r --code CANCELLED',
  ]);
});

test('a retry leads to one joint report', () => {
  expect(next('completed', [], { retry_of: 'a' })).toEqual(['cqbatch report r --with-retries']);
  expect(next('completed', [], { retries: ['b'] })).toEqual([]);
});

test('a run whose retry is done needs no more, unless the record of another run is damaged', async () => {
  const failed = { outcome: 'failed', code: 'UNAVAILABLE' } as const;
  const { store, record } = await endedRun([{ evaluation_id: 1, user_id: 'u' }], { others: { 1: failed } });
  await endedRetry(store, record, {});
  expect(await isCured(store, record)).toBe(true);
  const { folder } = await store.create('other');
  await writeFile(join(folder, 'run.json'), '{');
  expect(await isCured(store, record)).toBe(false);
});
