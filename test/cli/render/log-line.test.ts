import { expect, test } from 'vitest';
import { logLine, type ProgramLogEntry } from '../../../src/cli/render/log-line.ts';

type Entry = Omit<ProgramLogEntry, 'time'>;
const asked = { concurrency: 20, reason: 'the API asks to wait' };

const entries: readonly Entry[] = [
  { msg: 'pace', rate_per_s: 51, limit_per_s: 50, concurrency: 20, reason: 'just under the limit' },
  { msg: 'pace', rate_per_s: 51, wait_ms: 90_000, ...asked },
  { msg: 'pace', wait_ms: 7_200_000, wait_by: 'Retry-After: 7200', ...asked },
  { msg: 'pace', concurrency: 8, reason: 'no limit requested' },
  { msg: 'row waits', row: 7, code: 'HTTP_500', attempts: 2, delay_ms: 1_540 },
  { msg: 'the API asks to slow down', row: 7, wait_ms: 12_000 },
  { msg: 'row spared', row: 7, code: 'UNAVAILABLE' },
  { msg: 'waiting time ignored', header: 'Retry-After', value: '1e20' },
];

const said = (entry: Entry) => logLine({ time: 0, ...entry })?.replace(/^\d\d:\d\d:\d\d {2}/, '');

test('--verbose prints why and how the rate changes, and why rows wait', async () => {
  const told = entries.map((entry) => `${said(entry)}\n`).join('');
  await expect(told).toMatchFileSnapshot('../screens/verbose.txt');
});

test('--verbose prints nothing of a row that has finished', () => {
  expect(said({ msg: 'row finished', row: 7, code: 'OK' })).toBeUndefined();
});
