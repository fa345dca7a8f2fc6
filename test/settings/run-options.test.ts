import { expect, test } from 'vitest';
import { runOptionsSchema } from '../../src/run/record/record.ts';
import { callOptions, changedOptions, rowOptions } from '../../src/settings/run-options.ts';
import { type Setting, settings } from '../../src/settings/setting-table.ts';
import { isCallOption, optionInWords, resolveSettings } from '../../src/settings/settings.ts';

const said = (values: Readonly<Record<string, unknown>>) =>
  resolveSettings({ flags: {}, environment: {}, file: { path: 'f', values } });

test('each setting that sets an option of a run names one that there is', () => {
  const options = Object.values<Setting>(settings).flatMap(
    ({ rowOption, callOption }) => rowOption ?? callOption ?? [],
  );
  expect(options.filter((option) => !(option in runOptionsSchema.shape))).toEqual([]);
  expect(new Set(options).size).toBe(options.length);
});

test('a new run has what is said, and else what is usual', () => {
  expect(callOptions(said({ timeout: '5s', max_consecutive_failures: 7 }))).toEqual({
    ...{ rate: { text: 'auto', auto: true }, concurrency: 'auto', attempts: 5 },
    ...{ timeoutMs: 5_000, backoffMs: 1_000, maxOutageMs: 900_000 },
    ...{ maxFailures: { percent: 5 }, maxFailuresAfter: 100, maxConsecutiveFailures: 7 },
  });
});

test('a run that is resumed has what is said now, and else what it had; none takes away what may be absent', () => {
  const before = {
    ...{ baseUrl: 'https://api.test/', clearToken: '<clear>' },
    ...callOptions(said({ rate: '5/s', max_consecutive_failures: 7, max_failures: 3, attempts: 2 })),
  };
  expect(changedOptions(before, {})).toEqual(before);
  const { rate: _, maxConsecutiveFailures: __, maxOutageMs: ___, ...kept } = before;
  const none = { rate: 'none', max_consecutive_failures: 'none', max_outage: 'none' };
  expect(changedOptions(before, said({ ...none, attempts: 9 }))).toEqual({ ...kept, attempts: 9 });
  expect(changedOptions(before, said({ max_failures: 'none' }))).toMatchObject({ maxFailures: 'none' });
});

test('how rows are read is what is said, without what is usual', () => {
  const given = said({
    sheet: 'Rows',
    where: ['a=1', 'b=2'],
    map: { id: 'evaluation_id' },
    default: { user_id: 'u-1' },
  });
  expect(rowOptions({ trim: true }, given)).toEqual({
    ...{ sheet: 'Rows', where: ['a=1', 'b=2'], map: { id: 'evaluation_id' }, trim: true },
    ...{ default: { user_id: 'u-1' }, clearToken: '<clear>' },
  });
  expect(rowOptions({}, {})).toEqual({ clearToken: '<clear>' });
});

test('an option is written as the flag that sets it', () => {
  expect(['timeoutMs', 'maxOutageMs', 'maxFailures', 'clearToken'].map(optionInWords)).toEqual([
    ...['timeout', 'max-outage', 'max-failures', 'clear-token'],
  ]);
  expect(['timeoutMs', 'rate', 'sheet'].map(isCallOption)).toEqual([true, true, false]);
});
