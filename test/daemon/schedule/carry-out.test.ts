import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { type Beginning, carryOutSchedules, lookAtSchedule } from '../../../src/daemon/schedule/carry-out.ts';
import { type Occasion, runIdFor, type Schedule } from '../../../src/daemon/schedule/schedule.ts';
import { openScheduleStore } from '../../../src/daemon/schedule/store.ts';
import { enterState, type RunState } from '../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { nightly } from './nightly.ts';

/** A state folder with a schedule, and daemons that look at it at times that the test sets. */
async function newScene(changes: Partial<Schedule> = {}) {
  const stateDir = await temporaryFolder();
  const schedules = openScheduleStore(stateDir);
  const runs = openRunStore(stateDir, operations);
  await schedules.add({ ...nightly, ...changes });
  const scene = {
    schedules,
    now: new Date('2026-11-05T01:00:00.000Z'),
    /** The runs that were started, by id. */
    started: [] as string[],
    told: [] as string[],
    /** The lines of the log. */
    logged: [] as { readonly msg: string }[],
    /** The result of starting runs; by default a run is submitted. */
    begin: async (schedule: Schedule, occasion: Occasion): Promise<Beginning> => {
      const id = runIdFor(schedule, occasion);
      if ((await runs.look(id)) === undefined) {
        await runs.create(id);
        await runs.save({ ...enterState({ ...plannedRecord, id }, 'submitted'), submitted: true });
        scene.started.push(id);
      }
      return { result: 'began', runs: [id] };
    },
    async at(time: string) {
      scene.now = new Date(`2026-11-${time}:00.000Z`);
      await lookAtSchedule('nightly', scene.options);
    },
    async end(id: string, state: RunState = 'completed') {
      await runs.save(enterState(await runs.load(id), state));
    },
    state: () => schedules.state('nightly'),
    history: async () => (await schedules.state('nightly')).history,
    options: {
      schedules,
      runs,
      begin: (schedule: Schedule, occasion: Occasion) => scene.begin(schedule, occasion),
      onFailed: (_: Schedule, { message }: Error) => scene.told.push(message),
      log: pino({ base: null }, { write: (line: string) => scene.logged.push(JSON.parse(line)) }),
      now: () => scene.now,
    },
  };
  return scene;
}

const first = 'nightly-20261105-020000';

test('a schedule that is carried out starts one run for each time, named after it, and records that', async () => {
  const scene = await newScene();
  await scene.at('05T02:00');
  await scene.at('05T02:00');
  await scene.end(first);
  await scene.at('06T02:01');
  expect(scene.started).toEqual([first, 'nightly-20261106-020000']);
  expect(await scene.history()).toMatchObject([
    { result: 'missed', due: '2026-11-01T02:00:00.000Z', until: '2026-11-04T02:00:00.000Z' },
    { result: 'began', due: '2026-11-05T02:00:00.000Z', runs: [first] },
    { result: 'began', due: '2026-11-06T02:00:00.000Z', at: '2026-11-06T02:01:00.000Z' },
  ]);
});

test('a schedule that is carried out has one run when its daemon is killed before the history is written', async () => {
  const scene = await newScene();
  const begin = scene.begin;
  scene.begin = async (...args) => {
    await begin(...args);
    throw new Error('killed');
  };
  await expect(scene.at('05T02:00')).rejects.toThrow('killed');
  expect(await scene.state()).toMatchObject({ beginning: { due: '2026-11-05T02:00:00.000Z' } });
  scene.begin = begin;
  // Any later process, however late it comes: this is not another time.
  await scene.at('06T09:00');
  expect(scene.started).toEqual([first]);
  expect(await scene.history()).toMatchObject([{ result: 'missed' }, { result: 'began', runs: [first] }]);
});

test('a schedule that is carried out has one run when many daemons look at once', async () => {
  const scene = await newScene();
  await Promise.all(Array.from({ length: 8 }, () => scene.at('05T02:00')));
  await scene.at('05T02:00');
  expect(scene.started).toEqual([first]);
});

test('a schedule that is carried out tries again when a run could not be started yet', async () => {
  const scene = await newScene();
  const begin = scene.begin;
  scene.begin = async () => ({ result: 'later' });
  await scene.at('05T02:00');
  scene.begin = begin;
  await scene.at('05T02:03');
  expect(scene.started).toEqual([first]);
});

test('a schedule that is carried out reports what could not be started, and continues with the next time', async () => {
  const scene = await newScene();
  const begin = scene.begin;
  scene.begin = async () => ({ result: 'failed', code: 'MANIFEST_NOT_FOUND', message: 'it is not there' });
  await scene.at('05T02:00');
  expect(scene.told).toEqual(['it is not there']);
  scene.begin = begin;
  // An hour late is too late, which is reported, too.
  await scene.at('07T03:30');
  expect(scene.told.at(-1)).toBe('it was due 2026-11-07T02:00:00.000Z, and no daemon was running in time');
  await scene.at('08T02:00');
  expect(scene.started).toEqual(['nightly-20261108-020000']);
  expect(await scene.history()).toMatchObject([
    { result: 'missed' },
    { result: 'failed', code: 'MANIFEST_NOT_FOUND', message: 'it is not there' },
    { result: 'missed', due: '2026-11-06T02:00:00.000Z', until: '2026-11-07T02:00:00.000Z' },
    { result: 'began' },
  ]);
});

test('a schedule that is carried out records an empty inbox as one entry, and what was refused', async () => {
  const scene = await newScene({ since: '2026-11-04T12:00:00.000Z' });
  scene.begin = async () => ({ result: 'began', runs: [] });
  for (const day of ['05', '06', '07']) await scene.at(`${day}T02:00`);
  scene.begin = async () => ({
    result: 'began',
    runs: ['a'],
    refused: ['b.csv'],
  });
  await scene.at('08T02:00');
  expect(await scene.history()).toMatchObject([
    { result: 'idle', due: '2026-11-05T02:00:00.000Z', until: '2026-11-07T02:00:00.000Z' },
    { result: 'began', runs: ['a'], refused: ['b.csv'] },
  ]);
  expect(scene.logged).toMatchObject([
    { msg: 'schedule: runs submitted', runs: ['a'] },
    { msg: 'schedule: manifests refused', refused: ['b.csv'] },
  ]);
});

test.each<[RunState, boolean]>([
  ['submitted', true],
  ['completed', false],
  ['halted', false],
])('a schedule that is carried out is in progress while its run is %s: %s', async (state, isGoing) => {
  const scene = await newScene();
  await scene.at('05T02:00');
  await scene.end(first, state);
  await scene.at('06T02:00');
  expect((await scene.history()).at(-1)).toMatchObject(
    isGoing ? { result: 'skipped', because: first } : { result: 'began' },
  );
});

test('a schedule that is carried out starts one run when it is triggered, even while it is paused', async () => {
  const scene = await newScene({ paused: true });
  const trigger = { at: '2026-11-05T12:00:00.000Z', reason: 'a new file' };
  await scene.schedules.saveTrigger('nightly', trigger);
  await scene.at('05T12:00');
  await scene.at('05T12:01');
  expect(scene.started).toEqual(['nightly-20261105-120000-now']);
  expect(await scene.history()).toMatchObject([{ result: 'began', due: trigger.at, trigger }]);
  expect(await scene.schedules.trigger('nightly')).toBeUndefined();
});

test('a schedule that is removed starts nothing more, and a new one of its name starts fresh', async () => {
  const scene = await newScene();
  await scene.at('05T02:00');
  await scene.schedules.remove('nightly', {});
  await scene.at('06T02:00');
  expect(await scene.schedules.list()).toEqual([]);
  await scene.schedules.add({ ...nightly, since: '2026-11-06T03:00:00.000Z' });
  expect(await scene.history()).toEqual([]);
  await scene.at('07T02:00');
  expect(scene.started).toEqual([first, 'nightly-20261107-020000']);
});

test('a schedule that cannot be carried out says why, even if it is damaged meanwhile, but not if it is removed', async () => {
  const scene = await newScene();
  scene.begin = async () => {
    await writeFile(`${scene.schedules.folder('nightly')}/schedule.json`, '{');
    throw new Error('the disk is full');
  };
  await expect(scene.at('05T02:00')).rejects.toThrow('the disk is full');
  const other = await newScene();
  other.begin = async () => {
    await other.schedules.remove('nightly', {});
    throw new Error('the disk is full');
  };
  await other.at('05T02:00');
  expect(await other.schedules.list()).toEqual([]);
});

test('the schedules of a state folder that are damaged are reported, and do not block the others', async () => {
  const { schedules } = await newScene();
  await schedules.add({ ...nightly, name: 'weekly' });
  await writeFile(`${schedules.folder('nightly')}/schedule.json`, '{');
  const said: string[] = [];
  const found = await schedules.list(({ message }) => said.push(message));
  expect(found.map(({ name }) => name)).toEqual(['weekly']);
  expect(said).toEqual([expect.stringContaining('nightly/schedule.json is damaged')]);
});

test('the schedules of a state folder are due by the clock, even when it was ahead and is set back', async () => {
  const scene = await newScene();
  const stopping = new AbortController();
  const done = async () => (await scene.state()).doneUntil;
  scene.now = new Date('2031-01-01T12:00:00.000Z');
  const options = { ...scene.options, finishRuns: async () => {}, stop: stopping.signal };
  const carried = carryOutSchedules(options, () => scene.now);
  await expect.poll(done).toBe('2031-01-01T02:00:00.000Z');
  scene.now = new Date('2026-11-05T01:59:59.000Z');
  await expect.poll(done).toBe('2026-11-05T01:59:59.000Z');
  expect(scene.started).toEqual([]);
  scene.now = new Date('2026-11-05T02:00:00.000Z');
  await expect.poll(() => scene.started).toEqual([first]);
  stopping.abort();
  await carried;
});

test('the schedules of a state folder wait for a state folder that is away for a moment, and make none in its place', async () => {
  const scene = await newScene();
  const stopping = new AbortController();
  const carried = carryOutSchedules(
    { ...scene.options, finishRuns: async () => {}, stop: stopping.signal },
    () => scene.now,
  );
  await expect.poll(() => scene.schedules.daemon()).toBeDefined();
  const folder = dirname(scene.schedules.folder('nightly'));
  await rename(folder, `${folder}-unmounted`);
  const said = () => scene.logged.map((line) => JSON.stringify(line)).join('');
  await expect.poll(said).toContain(`${folder} has gone since this process found it: mount it or`);
  expect(existsSync(folder)).toBe(false);
  await rename(`${folder}-unmounted`, folder);
  scene.now = new Date('2026-11-05T02:00:00.000Z');
  await expect.poll(() => scene.started).toEqual([first]);
  stopping.abort();
  await carried;
});
