import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/daemon/schedule/schedule.ts';
import { openScheduleStore } from '../../../src/daemon/schedule/store.ts';
import { dismissRefusals, readSchedules, scheduleData } from '../../../src/pages/server/schedules.ts';
import { nightly } from '../../daemon/schedule/nightly.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const at = new Date(Date.now() - 60_000).toISOString();
const refusal: HistoryEntry = { due: at, result: 'began', at, runs: ['fine'], refused: ['bad.csv'] };

async function twoSchedules() {
  const stateDir = await temporaryFolder();
  const store = openScheduleStore(stateDir);
  for (const name of ['one', 'other']) {
    await store.add({ ...nightly, name, source: { inbox: `/data/${name}` } });
    await store.saveState(name, { version: 1, history: [refusal] });
  }
  const warnings: string[] = [];
  const refused = async (manifests: ReadonlyMap<string, string> = new Map()) => {
    const known = await readSchedules(store, ({ message }) => void warnings.push(message));
    const data = await Promise.all(known.map((each) => scheduleData(each, manifests)));
    return Object.fromEntries(data.map(({ name, refused }) => [name, refused.map((file) => file.name)]));
  };
  return { stateDir, store, refused, warnings };
}

test('what a person has seen is dismissed for that schedule only, also after a restart', async () => {
  const { stateDir, store, refused } = await twoSchedules();
  expect(await refused()).toEqual({ one: ['bad.csv'], other: ['bad.csv'] });
  await dismissRefusals(store, 'one', at);
  expect(await refused()).toEqual({ one: [], other: ['bad.csv'] });
  expect(await openScheduleStore(stateDir).seenUntil('one')).toBe(at);
  // What is refused later is news.
  const later = { ...refusal, at: new Date().toISOString() };
  await store.saveState('one', { version: 1, history: [refusal, later] });
  expect(await refused()).toEqual({ one: ['bad.csv'], other: ['bad.csv'] });
});

test('a file that has run under the same name since is not shown', async () => {
  const { store, refused } = await twoSchedules();
  await store.saveState('one', {
    version: 1,
    history: [refusal, { ...refusal, runs: ['fine'], refused: [] }],
  });
  expect(await refused(new Map([['fine', '/data/one/bad.csv']]))).toEqual({ one: [], other: ['bad.csv'] });
});

test('only a known schedule and a time can be dismissed', async () => {
  const { store } = await twoSchedules();
  await expect(dismissRefusals(store, 'none', at)).rejects.toMatchObject({ code: 'SCHEDULE_UNKNOWN' });
  for (const until of [undefined, 3, 'soon'])
    await expect(dismissRefusals(store, 'one', until)).rejects.toMatchObject({ code: 'INVALID_SETTING' });
  expect(await store.seenUntil('one')).toBeUndefined();
});

test('a damaged schedule is left out with a warning', async () => {
  const { stateDir, refused, warnings } = await twoSchedules();
  await writeFile(join(stateDir, 'schedules', 'one', 'state.json'), '{');
  expect(await refused()).toEqual({ other: ['bad.csv'] });
  expect(warnings).toEqual([expect.stringContaining('state.json')]);
});
