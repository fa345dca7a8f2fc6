import { readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { openPageCommands } from '../../../../src/cli/commands/dashboard/page-commands.ts';
import { createRun } from '../../../../src/engine/run/plan/create-run.ts';
import { enterState, type RunState, type StateCause } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { leastOptions, manifestAt } from '../../../engine/run/planned-record.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

/** The commands of a dashboard with one run in this state. */
async function place(state: RunState, cause: StateCause = {}) {
  const stateDir = await temporaryFolder();
  const store = openRunStore(stateDir, operations);
  const source = join(stateDir, 'rows.csv');
  await writeFile(source, 'evaluation_id,user_id\n1,u\n2,u\n');
  const { record, journal } = await createRun(store, { rows: manifestAt(source), options: leastOptions });
  await journal.close();
  await store.save(enterState(record, state, cause));
  const { id } = record;
  return { id, stateDir, store, commands: openPageCommands({ stateDir }, store), load: () => store.load(id) };
}

describe('resume on a page', () => {
  test('hands a halted run to the daemon, by its user, with the reason', async () => {
    const { id, commands, load } = await place('halted', { because: 'guard' });
    await commands.resume(id, 'mended (on the dashboard)');
    const record = await load();
    expect(record).toMatchObject({ state: 'submitted', submitted: true });
    expect(record.states.at(-1)).toMatchObject({
      by: { user: expect.any(String) },
      reason: 'mended (on the dashboard)',
    });
  });

  test('needs a reason for a halted run, not for another', async () => {
    const halted = await place('halted', { because: 'guard' });
    await expect(halted.commands.resume(halted.id, 'on the dashboard')).rejects.toMatchObject({
      kind: 'usage',
      code: 'REASON_MISSING',
    });
    expect(await halted.load()).toMatchObject({ state: 'halted' });
    const interrupted = await place('interrupted');
    await interrupted.commands.resume(interrupted.id, 'on the dashboard');
    expect(await interrupted.load()).toMatchObject({ state: 'submitted' });
  });

  test.each<[RunState, string]>([
    ['completed', 'RUN_NOT_RESUMABLE'],
    ['cancelled', 'RUN_NOT_RESUMABLE'],
    ['submitted', 'RUN_STATE'],
    ['running', 'RUN_RUNNING'],
    ['paused', 'RUN_RUNNING'],
  ])('refuses a run that is %s', async (state, code) => {
    const { id, commands, load } = await place(state);
    await expect(commands.resume(id, 'why (on the dashboard)')).rejects.toMatchObject({ code });
    expect(await load()).toMatchObject({ state });
  });

  test('refuses a run that is not there', async () => {
    const { commands } = await place('halted');
    await expect(commands.resume('other', 'why')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  });
});

test('a plan reads at most 100 MB, which a small compressed file may unpack to, and leaves nothing of more', async () => {
  const { store, stateDir } = await place('completed');
  const commands = openPageCommands({ stateDir, baseUrl: 'https://api.example' }, store);
  const path = join(stateDir, 'manifest');
  await writeFile(path, 'evaluation_id,user_id\n');
  await truncate(path, 100_000_001);
  const output = { plan: join(stateDir, 'large.cqplan'), page: join(stateDir, 'plan.html') };
  const planning = commands.planManifest({ path, name: 'large.csv', sha256: '' }, {}, output);
  await expect(planning).rejects.toMatchObject({
    code: 'MANIFEST_TOO_LARGE',
    message: expect.stringContaining('larger than max_manifest_size (100 MB)'),
  });
  expect(await readdir(stateDir)).toEqual(expect.not.arrayContaining(['large.cqplan', 'plan.html']));
});
