import { expect, test } from 'vitest';
import { factsOfEntry } from '../../../src/engine/run/facts/make-facts.ts';
import { behindDaemon } from '../../../src/pages/server/behind-daemon.ts';
import { runData } from '../../../src/pages/server/overview.ts';
import { type RunData, waitText } from '../../../src/pages/server/page-data.ts';
import { ago, runEntry } from '../../helpers/cluster-entries.ts';

const daemon = { host: 'here', pid: 7 };

/** A run of this machine, in a state folder without Redis or with it. */
function run(id: string, state: string, isShared = false): RunData {
  const entry = { ...runEntry({ startedAt: ago(0) }), run: id, state } as Parameters<typeof factsOfEntry>[0];
  const coordinator = state === 'running' ? daemon : undefined;
  const local = { states: [], steps: [], activeMs: 0, isShared };
  return { ...runData(factsOfEntry(entry, undefined)), id, coordinator, local };
}

const missing = 'Waiting for a daemon: start "cqbatch worker --coordinate".';

test.each([
  ['no daemon is running', undefined, [run('a', 'running'), run('b', 'submitted')], missing],
  [
    'a daemon works on another run',
    daemon,
    [run('a', 'running'), run('b', 'submitted')],
    'Waiting until the daemon has finished a.',
  ],
  ['a daemon works on nothing', daemon, [run('b', 'submitted')], missing],
  [
    'another process works on a run',
    { ...daemon, pid: 8 },
    [run('a', 'running'), run('b', 'submitted')],
    missing,
  ],
  ['the runs are on Redis', daemon, [run('a', 'running', true), run('b', 'submitted', true)], missing],
])('what a submitted run waits for while %s', (_, present, runs, text) => {
  const told = behindDaemon(runs, present).find(({ id }) => id === 'b');
  expect(told && waitText(told)).toBe(text);
});
