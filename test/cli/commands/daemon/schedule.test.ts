import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { warnOfUnfinishedManifests } from '../../../../src/cli/commands/daemon/schedule.ts';
import { silentTerminal } from '../../../../src/cli/terminal.ts';
import { openScheduleStore } from '../../../../src/daemon/schedule/store.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { inboxPlace } from '../../../daemon/inbox/inbox-place.ts';
import { nightly } from '../../../daemon/schedule/nightly.ts';

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
