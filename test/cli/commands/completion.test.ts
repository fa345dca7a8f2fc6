import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { createProgram } from '../../../src/cli/command-line.ts';
import { completionsFor } from '../../../src/cli/commands/completion.ts';
import { openScheduleStore } from '../../../src/daemon/schedule/store.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { nightly } from '../../daemon/schedule/nightly.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** What may follow a command in a state folder. */
async function after(command: string, stateDir: string): Promise<string> {
  const words = [...command.split(' '), '--state-dir', stateDir, ''];
  return completionsFor(await createProgram('0', words), words);
}

test('a completion has the runs and schedules of the state folder', async () => {
  const stateDir = await temporaryFolder();
  const store = openRunStore(stateDir, operations);
  await store.create(plannedRecord.id);
  await store.save(plannedRecord);
  await openScheduleStore(stateDir).add(nightly);
  expect(await after('status', stateDir)).toBe(`${plannedRecord.id} planned\n`);
  expect(await after('schedule pause', stateDir)).toBe('nightly 0 2 * * * Europe/London\n');
});

test.each([
  ['runs', 'status'],
  ['schedules', 'schedule pause'],
])('a completion has no %s where their folder cannot be read', async (name, command) => {
  const stateDir = await temporaryFolder();
  await writeFile(join(stateDir, name), 'not a folder');
  expect(await after(command, stateDir)).toBe('');
});
