import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { randomFor } from '../../src/sandbox/random.ts';
import { asUsersHaveIt } from '../helpers/cqbatch.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { expectVerified } from '../helpers/verified.ts';
import { expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { calledSince } from './redis/kill-matrix.ts';
import { eventually, type Machine, newMachine, placesOnRedis } from './redis/machine.ts';
import {
  changingCalls,
  type Entry,
  editElsewhere,
  editSome,
  entries,
  renamedCsv,
  withChanges,
} from './soundboards.ts';

const soundboards = ['--soundboards', '120', '--updates', 'replace'];
/** Longer than a process needs to be killed. */
const slowly = '300ms';
const rows = 100;

async function readsOf(sandbox: TestSandbox): Promise<number> {
  return (await sandbox.log()).filter(({ operation }) => operation === 'list-soundboards').length;
}

describe('a comparison whose process is killed', () => {
  const slow = () => newHome(renamedCsv(5), [...soundboards, '--latency', slowly], asUsersHaveIt);

  test.each(['plan', 'run'])(
    'while %s reads the list has sent nothing, and is made again',
    async (command) => {
      const { sandbox, ...home } = await slow();
      const before = entries(sandbox);
      const consent = command === 'run' ? ['--yes', '--run-id', 'r'] : [];
      const words = [command, 'rows.csv', '--compare', ...consent];
      const child = home.start(...words);
      await sandbox.requested(1);
      child.kill('SIGKILL');
      await child.end;
      expect(entries(sandbox)).toEqual(before);
      // The answer that the killed process waited for counts for nothing.
      await editElsewhere(sandbox, 1, { description: 'Theirs' });
      sandbox.configure({ latency: '0ms' });
      const again = await home.run(...words);
      expect({ code: again.code, stderr: again.code === 0 ? '' : again.stderr }).toEqual({
        code: 0,
        stderr: '',
      });
      const wanted = withChanges(before, { 1: { description: 'Theirs' } });
      if (command === 'plan') expect(entries(sandbox)).toEqual(wanted);
      else
        expect(entries(sandbox)).toEqual(
          wanted.map((entry, at) => (at < 5 ? { ...entry, title: `New ${at + 1}` } : entry)),
        );
      const left = await readdir(home.stateDir);
      expect(left.filter((name) => /^(?:plan|lists|retry|undo)-/.test(name))).toEqual([]);
    },
  );

  test.each(['run', 'resume'])(
    'while %s reads the list again calls nothing that has changed meanwhile',
    async (command) => {
      const { sandbox, ...home } = await slow();
      const before = entries(sandbox);
      sandbox.configure({ latency: '0ms' });
      expect(await home.run('plan', 'rows.csv', '--compare', '--out', 'week.cqplan')).toMatchObject({
        code: 0,
      });
      sandbox.configure({ latency: slowly });
      const kill = async (...words: readonly string[]) => {
        const child = home.start(...words);
        await calledSince({ sandbox }, 1);
        child.kill('SIGKILL');
        await child.end;
      };
      await kill('run', 'week.cqplan', '--run-id', 'r');
      if (command === 'resume') await kill('resume', 'r');
      expect(entries(sandbox)).toEqual(before);
      await editElsewhere(sandbox, 2, { title: 'Theirs' });
      const after = entries(sandbox);
      sandbox.configure({ latency: '0ms' });
      expect(await home.run('resume', 'r')).toMatchObject({ code: 1 });
      const renamed = { 1: 'New 1', 3: 'New 3', 4: 'New 4', 5: 'New 5' };
      const titles = Object.fromEntries(Object.entries(renamed).map(([id, title]) => [id, { title }]));
      expect(entries(sandbox)).toEqual(withChanges(after, titles));
      expect((await home.report('r')).map(({ _code }) => _code)).toEqual([
        ...['OK', 'CHANGED_SINCE', 'OK', 'OK', 'OK'],
      ]);
      expect(await home.run('undo', 'r', '--yes')).toMatchObject({ code: 0 });
      expect(entries(sandbox)).toEqual(after);
    },
  );
});

/** Of the entries of a run, the twelve that another client changes after a kill. */
function edited(seed: number, kill: number): readonly number[] {
  const random = randomFor('edits', seed, kill);
  return [...new Set(Array.from({ length: 12 }, () => random.integer(1, rows)))];
}

/** Checks that no edit of the other client was overwritten, and that undos put back what the run has done, and nothing else. */
async function expectUndone(
  { sandbox, ...home }: Machine & { readonly sandbox: TestSandbox },
  before: readonly Entry[],
  edits: ReadonlyMap<number, number>,
): Promise<void> {
  const log = await sandbox.log();
  const overwritten = [...edits].filter(([id, seen]) =>
    log.slice(seen).some((call) => call.traceparent !== null && call.id === String(id) && call.committed),
  );
  expect(overwritten).toEqual([]);
  const theirs = Object.fromEntries([...edits.keys()].map((id) => [id, { description: 'Theirs' }]));
  const after = entries(sandbox);
  expect(after.map(({ description }) => description)).toEqual(
    withChanges(before, theirs).map(({ description }) => description),
  );
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  await expectVerified(home.folder('r'));
  for (const { soundboard_id: id, _code, _outcome } of report) {
    const isEdited = edits.has(Number(id));
    const { title } = after[Number(id) - 1] ?? {};
    if (_outcome === 'succeeded') expect(title, id).toBe(`New ${id}`);
    else expect({ id, isEdited, _code }).toEqual({ id, isEdited: true, _code: 'CHANGED_SINCE' });
  }

  expect(await home.run('undo', 'r', '--yes', '--run-id', 'back')).toMatchObject({ code: 0 });
  const unchanged = (those: readonly Entry[]) =>
    those.filter(({ soundboard_id: id }) => !edits.has(Number(id)));
  expect(unchanged(entries(sandbox))).toEqual(unchanged(before));
  const ofOthers = (those: readonly Entry[]) =>
    those.filter(({ soundboard_id: id }) => edits.has(Number(id)));
  expect(ofOthers(entries(sandbox))).toEqual(ofOthers(after));
  await home.run('undo', 'r', '--yes', '--overwrite');
  expect(entries(sandbox)).toEqual(withChanges(before, theirs));
}

describe.each([1, 2, 3])('a compared run that is killed twice in the middle (seed %i)', (seed) => {
  const moment = (kill: number) => randomFor('kill', seed, kill).integer(5, 30);

  test('never calls what another client has changed since, and is undone', async () => {
    const flags = [...soundboards, '--latency', '20ms..60ms'];
    const { sandbox, ...home } = await newHome(renamedCsv(rows), flags, asUsersHaveIt);
    const before = entries(sandbox);
    const pace = ['--rate', 'none', '--concurrency', '4'];
    const edits = new Map<number, number>();
    for (const kill of [1, 2]) {
      const words = kill === 1 ? ['run', 'rows.csv', '--compare', '--yes', '--run-id', 'r'] : ['resume', 'r'];
      const child = home.start(...words, ...pace);
      await calledSince({ sandbox }, (kill === 1 ? 2 : 1) + moment(kill));
      child.kill('SIGKILL');
      await child.end;
      for (const [id, seen] of await editSome(sandbox, edited(seed, kill), 'Theirs')) edits.set(id, seen);
    }
    sandbox.configure({ latency: '0ms' });
    expect(await home.run('resume', 'r', ...pace)).toMatchObject({ code: 1 });
    await expectUndone({ ...home, sandbox }, before, edits);
  });
});

describeWithRedis('a compared run on Redis with a worker elsewhere', () => {
  const newPlace = placesOnRedis();

  test.each([1, 2])(
    'never calls what has changed since its coordinator and its worker were killed, and is undone (seed %i)',
    async (seed) => {
      const place = { ...(await newPlace(...soundboards, '--latency', '20ms..60ms')), env: asUsersHaveIt };
      const { sandbox } = place;
      const [home, elsewhere] = [await newMachine(place, renamedCsv(rows)), await newMachine(place)];
      const before = entries(sandbox);
      const worker = await elsewhere.worker('--concurrency', '4');
      const away = ['--no-worker', '--rate', 'none'];
      const run = home.start('run', 'rows.csv', '--compare', '--yes', '--run-id', 'r', ...away);
      await calledSince({ sandbox }, 2 + randomFor('kill', seed).integer(10, 40));
      for (const each of [run, worker]) each.kill('SIGKILL');
      await Promise.all([run.end, worker.end]);
      expect((await changingCalls(sandbox)).length).toBeLessThan(rows);
      const edits = await editSome(sandbox, edited(seed, 1), 'Theirs');
      const reads = await readsOf(sandbox);
      const resumed = home.start('resume', 'r', ...away);
      // A worker that returned earlier would call what the killed coordinator has fed: nothing tells a slow worker from it.
      await eventually(async () => (await readsOf(sandbox)) > reads);
      await elsewhere.worker('--concurrency', '4');
      expect(await resumed.end).toMatchObject({ code: 1 });
      await expectUndone({ ...home, sandbox }, before, edits);
    },
  );
});
