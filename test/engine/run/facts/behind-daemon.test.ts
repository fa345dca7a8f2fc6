import { expect, test } from 'vitest';
import { behindDaemon } from '../../../../src/engine/run/facts/behind-daemon.ts';
import { factsOfEntry } from '../../../../src/engine/run/facts/make-facts.ts';
import type { RunFacts } from '../../../../src/engine/run/facts/run-facts.ts';
import { ago, runEntry } from '../../../helpers/cluster-entries.ts';

const daemon = { host: 'here', pid: 7 };

/** A run of this machine, in a state folder without Redis or with it. */
function run(id: string, state: string, isShared = false): RunFacts {
  const entry = { ...runEntry({ startedAt: ago(0) }), run: id, state } as Parameters<typeof factsOfEntry>[0];
  const coordinator = state === 'running' ? daemon : undefined;
  const local = { states: [], steps: [], activeMs: 0, isShared };
  return { ...factsOfEntry(entry, undefined), id, coordinator, local };
}

const missing = 'for a daemon: start "cqbatch worker --coordinate"';

test.each([
  ['no daemon is running', undefined, [run('a', 'running'), run('b', 'submitted')], missing],
  [
    'a daemon works on another run',
    daemon,
    [run('a', 'running'), run('b', 'submitted')],
    'until the daemon has finished a',
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
  expect(told?.wait?.text).toBe(text);
});
