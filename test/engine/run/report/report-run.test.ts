import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { thisProcess } from '../../../../src/base/disk/process.ts';
import { createRun } from '../../../../src/engine/run/plan/create-run.ts';
import { enterState, type RunState } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { reportRun } from '../../../../src/engine/run/report/report-run.ts';
import { readCsv } from '../../../helpers/run-folder.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { finished } from '../../journal/arbitraries.ts';
import { leastOptions, manifestAt } from '../planned-record.ts';

test('rows without a result are offered for another run only when no process will call them', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'rows.csv'), 'evaluation_id,user_id\n1,u\n2,u\n3,u\n');
  const store = openRunStore(join(folder, '.cqbatch'), operations);
  const { record: planned, journal } = await createRun(store, {
    rows: manifestAt(join(folder, 'rows.csv')),
    options: leastOptions,
  });
  // Row 1 has a result, row 2 has failed once, and row 3 was never called.
  await journal.append([
    finished(1),
    { type: 'open', row: 2, history: { attempts: 1, unprocessed: 0, unclear: false } },
  ]);

  const dead = { ...thisProcess(), pid: 2 ** 22 + 1 };
  const cases: readonly [RunState, string, object][] = [
    ['planned', 'INTERRUPTED', {}],
    ['submitted', 'PENDING', { submitted: true }],
    ['running', 'PENDING', {}],
    ['running', 'INTERRUPTED', { process: dead }],
    ['running', 'PENDING', { process: dead, submitted: true }],
    ['paused', 'PENDING', {}],
    ['paused', 'INTERRUPTED', { process: dead }],
    ['interrupted', 'INTERRUPTED', {}],
    ['halted', 'HALTED', {}],
    ['failed', 'INTERRUPTED', {}],
    ['cancelled', 'CANCELLED', {}],
  ];
  const runFolder = store.folder(planned.id);
  for (const [state, code, more] of cases) {
    const record = { ...enterState(planned, state), ...more };
    const { paths } = await reportRun(store, record, journal);
    const what = `${state} ${JSON.stringify(more)}`;
    const report = await readCsv(runFolder, 'report.csv');
    expect(
      report.map((row) => row['_code']),
      what,
    ).toEqual(['OK', code, code]);
    const offered = code === 'PENDING' ? [] : ['failed.csv', 'not-attempted.csv'];
    const files = (await readdir(runFolder)).filter((name) => /^(failed|not-attempted)/.test(name));
    expect(files.toSorted(), what).toEqual(offered);
    expect(
      [paths.failed, paths.notAttempted].filter((path) => path !== undefined),
      what,
    ).toHaveLength(offered.length);
  }
  await journal.close();
});
