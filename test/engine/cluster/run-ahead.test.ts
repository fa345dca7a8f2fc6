import { expect, test } from 'vitest';
import type { RunEntry } from '../../../src/engine/cluster/entries.ts';
import { runAhead } from '../../../src/engine/cluster/run-ahead.ts';
import { runEntry } from '../../helpers/cluster-entries.ts';

const own = runEntry({ id: 'own', rowsPerSecond: 0 });
const urgent = runEntry({
  id: 'urgent',
  state: 'running',
  priority: 'high',
  rows: 100,
  done: 20,
  rowsPerSecond: 2,
});

test.each<[string, RunEntry, RunEntry[], string | undefined]>([
  ['waits for a run of higher priority', own, [urgent], 'for urgent (priority high), about 40 s'],
  [
    'waits for a normal one if it is low',
    { ...own, priority: 'low' },
    [runEntry({ id: 'usual', state: 'running', rows: 9, done: 1, rowsPerSecond: 4 })],
    'for usual (priority normal), about 2 s',
  ],
  [
    'waits for several',
    own,
    [{ ...urgent, id: 'small', done: 99 }, urgent],
    'for urgent (priority high) and 1 other run, about 20 s',
  ],
  [
    'does not know how long, if that run does not advance',
    own,
    [{ ...urgent, rowsPerSecond: 0 }],
    'for urgent (priority high), 80 rows left',
  ],
  ['is called itself', { ...own, rowsPerSecond: 1 }, [urgent], undefined],
  ['has the same priority', { ...own, priority: 'high' }, [urgent], undefined],
  ['waits for no run that is paused', own, [{ ...urgent, state: 'paused' }], undefined],
  ['waits for no run without rows to call', own, [{ ...urgent, done: 100 }], undefined],
])('a run %s', (_what, run, runs, text) => {
  expect(runAhead(run, runs)).toBe(text);
});
