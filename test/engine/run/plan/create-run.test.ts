import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { type Asker, beginRun } from '../../../../src/engine/run/plan/create-run.ts';
import { refusalOf } from '../../../../src/engine/run/plan/readiness.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { leastOptions, manifestAt } from '../planned-record.ts';

/** Begins a run of a manifest. @returns the run, what was asked, and the folders of runs that are there then */
async function begun(rows: string, answers: Partial<Asker> = {}) {
  const folder = await temporaryFolder();
  const path = join(folder, 'rows.csv');
  await writeFile(path, `evaluation_id,user_id\n${rows}`);
  const store = openRunStore(join(folder, '.cqbatch'), operations);
  const asked: string[] = [];
  const asker: Asker = {
    async show(run) {
      asked.push(`show ${refusalOf(run) ?? 'ready'}`);
      await answers.show?.(run);
    },
    async approve(run) {
      asked.push('approve');
      return (await answers.approve?.(run)) ?? run.record;
    },
    async confirm(run) {
      asked.push('confirm');
      return (await answers.confirm?.(run)) ?? true;
    },
  };
  const input = { rows: manifestAt(path), options: leastOptions, permits: {} };
  const run = await beginRun(store, input, asker).catch((error: Error) => error.message);
  if (typeof run === 'object') onTestFinished(() => run.journal.close());
  return { run, asked, folders: await readdir(join(folder, '.cqbatch', 'runs')) };
}

describe('a run that may not begin is discarded', () => {
  const fails = async (): Promise<never> => {
    throw new Error('no');
  };

  const all = ['show ready', 'approve', 'confirm'];

  test.each<[why: string, rows: string, answers: Partial<Asker>, run: unknown, asked: readonly string[]]>([
    ['its rows are refused', 'x y,u\n', {}, undefined, ['show INVALID_ROWS']],
    ['it can not be shown', '1,u\n', { show: fails }, 'no', ['show ready']],
    ['approvals are missing', '1,u\n', { approve: fails }, 'no', ['show ready', 'approve']],
    ['the user declines', '1,u\n', { confirm: async () => false }, undefined, all],

    ['the user stops the question', '1,u\n', { confirm: fails }, 'no', all],
  ])('when %s', async (_why, rows, answers, run, asked) => {
    expect(await begun(rows, answers)).toEqual({ run, asked, folders: [] });
  });
});
