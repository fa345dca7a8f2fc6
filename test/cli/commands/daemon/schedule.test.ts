import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import {
  type ScheduleContext,
  viewOf,
  warnOfUnfinishedManifests,
} from '../../../../src/cli/commands/daemon/schedule.ts';
import { silentTerminal } from '../../../../src/cli/terminal.ts';
import { withConclusion } from '../../../../src/daemon/schedule/decide.ts';
import { newState } from '../../../../src/daemon/schedule/schedule.ts';
import { openScheduleStore } from '../../../../src/daemon/schedule/store.ts';
import { journalPath } from '../../../../src/engine/run/record/run-journal.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { inboxPlace } from '../../../daemon/inbox/inbox-place.ts';
import { nightly } from '../../../daemon/schedule/nightly.ts';
import { endedRun } from '../../../engine/run/plan/ended-run.ts';

test('a removed schedule names the manifests of its inbox that stay in running/, unless another one finishes them', async () => {
  const { drop, open, next, inbox, stateDir } = await inboxPlace();
  const schedules = openScheduleStore(stateDir);
  const warnings: string[] = [];
  const terminal = { ...silentTerminal(), warn: (text: string) => void warnings.push(text) };
  const warn = () =>
    warnOfUnfinishedManifests({ terminal, schedules, store: openRunStore(stateDir, operations) }, { inbox });
  await drop('week.csv', 'a\n1\n');
  await warn();
  expect(warnings).toEqual([]);
  const taken = (await next(await open())).manifest;
  await taken?.release();
  await schedules.add({ ...nightly, source: { inbox } });
  await warn();
  expect(warnings).toEqual([]);
  await schedules.remove(nightly.name, {});
  await warn();
  expect(warnings).toEqual([
    `warning: no schedule takes care of ${join(inbox, 'running')} any more: week.csv (run ${taken?.record.run}). ` +
      `To finish it, type: cqbatch watch ${inbox} --once`,
  ]);
});

test('a schedule is shown with its runs, as far as they can be read', async () => {
  const { store, record } = await endedRun([{ evaluation_id: 1, user_id: 'u' }], { state: 'halted' });
  const schedules = openScheduleStore(store.stateDir);
  await schedules.add(nightly);
  const due = '2026-11-05T02:00:00.000Z';
  await schedules.saveState(
    nightly.name,
    withConclusion(newState, { due, result: 'began', at: due, runs: [record.id] }),
  );
  const run = async () => (await viewOf({ schedules, store } as ScheduleContext, nightly)).run(record.id);
  expect(await run()).toMatchObject({ state: 'halted', counts: { succeeded: 1 } });
  await writeFile(journalPath(store.folder(record.id)), 'not a journal');
  expect(await run()).toEqual({ state: 'halted' });
  await writeFile(join(store.folder(record.id), 'run.json'), '{');
  expect(await run()).toBeUndefined();
});
