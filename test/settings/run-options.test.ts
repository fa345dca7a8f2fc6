import { expect, test } from 'vitest';
import type { RowOptions } from '../../src/engine/run/plan/open-manifest.ts';
import { runOptionsSchema } from '../../src/engine/run/record/record.ts';
import {
  budgetOf,
  callOptions,
  canaryOptions,
  changedOptions,
  rowOptions,
} from '../../src/settings/run-options.ts';
import type { Setting } from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/setting-table.ts';
import { isCallOption, optionInWords, resolveSettings } from '../../src/settings/settings.ts';

const said = (values: Readonly<Record<string, unknown>>) =>
  resolveSettings({ flags: {}, environment: {}, file: { path: 'f', values } });

/** Options of the plan, and whether a setting sets them; a flag without a setting sets the others. */
const ofRows: Record<keyof RowOptions, boolean> = {
  clearToken: true,
  compare: true,
  default: true,
  encoding: true,
  hidden: true,
  map: true,
  onConflict: true,
  rowsAt: true,
  sheet: true,
  skipLines: true,
  strict: true,
  trustIds: true,
  trustQuotes: true,
  where: true,
  operation: false,
  trim: false,
};

test('each setting for reading rows sets an option of the plan, and each for calls one of the run', () => {
  const options = (kind: 'rowOption' | 'callOption') =>
    Object.values<Setting>(settings).flatMap(({ [kind]: option }) => option ?? []);
  const named = Object.entries(ofRows).filter(([, isSetting]) => isSetting);
  expect(options('rowOption').toSorted()).toEqual(named.map(([name]) => name).toSorted());
  const calls = options('callOption');
  expect(calls.filter((option) => !(option in runOptionsSchema.shape))).toEqual([]);
  expect(new Set(calls).size).toBe(calls.length);
});

test('a new run has the given options, and otherwise the defaults', () => {
  expect(callOptions(said({ timeout: '5s', max_failures: 7 }))).toEqual({
    rate: { text: 'auto', auto: true },
    concurrency: 'auto',
    attempts: 5,
    priority: 'normal',
    timeoutMs: 5_000,
    backoffMs: 1_000,
    maxOutageMs: 900_000,
    maxFailures: 7,
  });
});

test('a resumed run has the options given now, and otherwise its former ones; none removes optional ones', () => {
  const before = {
    baseUrl: 'https://api.test/',
    onConflict: 'last' as const,
    ...callOptions(said({ rate: '5/s', max_failures: 3, attempts: 2 })),
  };
  expect(changedOptions(before, {})).toEqual(before);
  const { rate: _, maxOutageMs: __, ...kept } = before;
  const none = { rate: 'none', max_outage: 'none' };
  expect(changedOptions(before, said({ ...none, attempts: 9 }))).toEqual({ ...kept, attempts: 9 });
  expect(changedOptions(before, said({ max_failures: 'none' }))).toMatchObject({ maxFailures: 'none' });
});

test('how rows are read is as given, without defaults', () => {
  const where = ['a=1', 'b=2'];
  const given = { sheet: 'Rows', where, map: { id: 'evaluation_id' }, default: { user_id: 'u-1' } };
  const clearToken = '<clear>';
  expect(rowOptions({ trim: true }, said(given))).toEqual({ ...given, trim: true, clearToken });
  expect(rowOptions({}, {})).toEqual({ clearToken });
});

test('an option is written as the flag or the key that sets it', () => {
  expect(['timeoutMs', 'maxOutageMs', 'maxFailures', 'clearToken'].map(optionInWords)).toEqual([
    ...['--timeout', '--max-outage', '--max-failures', 'clear_token'],
  ]);
  expect(['timeoutMs', 'rate', 'sheet'].map(isCallOption)).toEqual([true, true, false]);
});

test('a time of day uses its own time zone, or that of the settings, or that of the system', () => {
  const stopAt = (values: Readonly<Record<string, unknown>>) => budgetOf(said(values))?.stopAt;
  const inLondon = { time: '06:00', timeZone: 'Europe/London' };
  expect(stopAt({ stop_at: '06:00 Europe/London', tz: 'UTC' })).toEqual(inLondon);
  expect(stopAt({ stop_at: '06:00', tz: 'UTC' })).toEqual({ time: '06:00', timeZone: 'UTC' });
  expect(stopAt({ stop_at: '06:00' })).toEqual({ time: '06:00' });
});

test('a canary is not random where rows keep their order', () => {
  const settings = said({ canary: '10,random', canary_max_failures: 2 });
  expect(canaryOptions(settings, 'last')).toEqual({ canary: { rows: 10, random: true, maxFailures: 2 } });
  expect(canaryOptions(said({ canary: 10 }), 'in-order')).toEqual({ canary: { rows: 10, maxFailures: 0 } });
  expect(() => canaryOptions(settings, 'in-order')).toThrow('use --canary 10.');
});
