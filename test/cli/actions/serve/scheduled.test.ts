import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { inboxFinisher } from '../../../../src/cli/actions/serve/scheduled.ts';
import { openRunStore } from '../../../../src/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

test('an inbox is opened once, and again when something of it is missing', async () => {
  const folder = await temporaryFolder();
  const inbox = join(folder, 'inbox');
  await mkdir(inbox);
  const finish = inboxFinisher(
    await openRunStore(join(folder, 'state'), operations),
    pino({ enabled: false }),
  );
  const names = async () => (await readdir(inbox)).toSorted();
  await finish(inbox);
  const all = await names();
  expect(all).toContain('done');
  await rm(join(inbox, 'done'), { recursive: true });
  await finish(inbox);
  expect(await names()).not.toContain('done');
  await rm(join(inbox, '.cqbatch-inbox'), { recursive: true });
  await expect(finish(inbox)).rejects.toMatchObject({ code: 'FILE_MISSING' });
  await finish(inbox);
  expect(await names()).toEqual(all);
});
