import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { rowDocument } from '../../../../src/cli/render/row-history.ts';
import { writeRetryRows } from '../../../../src/engine/run/plan/retry-run.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { rowHistory } from '../../../../src/engine/run/report/row-history.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { end } from '../plan/ended-run.ts';
import { leastOptions, manifestAt } from '../planned-record.ts';

const manifest = [
  'evaluation_id,user_id,note',
  ...['9,u,left out', '1,u,a', '2,u,b', '1,u,c', 'x,u,d', '5,u,e'],
].join('\n');

const failed = { outcome: 'failed', code: 'UNAVAILABLE' } as const;

/** A run of that manifest without its row 1, and a retry of its rows 3 and 6. */
async function retriedRun() {
  const folder = await temporaryFolder();
  const source = join(folder, 'rows.csv');
  await writeFile(source, manifest);
  const store = openRunStore(join(folder, '.cqbatch'), operations);
  const input = { rows: manifestAt(source, { where: ['note != left out'] }), options: leastOptions };
  const first = await end(store, input, { state: 'cancelled', others: { 2: failed, 5: failed } });
  const path = join(folder, 'retry.jsonl');
  const planned = await writeRetryRows(store, first, [], {}, { options: leastOptions, path });
  const again = { rows: { kind: 'rows' as const, path, planned }, options: leastOptions };
  const retry = await end(store, again, { state: 'cancelled', others: { 1: null, 2: { code: 'GONE' } } });
  return { store, first, retry };
}

test.each<readonly [what: string, row: number, told: object]>([
  [
    'that was called',
    2,
    {
      cells: { evaluation_id: '1', user_id: 'u', note: 'a' },
      operation: 'restore-evaluation',
      request: { path: expect.stringMatching(/^\//), body: '{"evaluation_id":1,"user_id":"u"}' },
      runs: [{ row_in_run: 1, outcome: 'succeeded', code: 'OK' }],
    },
  ],
  [
    'that was called again',
    6,
    {
      cells: { evaluation_id: '5', user_id: 'u', note: 'e' },
      runs: [
        { row_in_run: 5, outcome: 'failed', code: 'UNAVAILABLE' },
        { row_in_run: 2, outcome: 'succeeded', code: 'GONE' },
      ],
    },
  ],
  [
    'that a retry has not called',
    3,
    {
      runs: [
        { row_in_run: 2, outcome: 'failed', code: 'UNAVAILABLE' },
        { row_in_run: 1, outcome: 'not_attempted', code: 'CANCELLED' },
      ],
    },
  ],
  [
    'that is a duplicate',
    4,
    {
      operation: 'restore-evaluation',
      request: null,
      problems: [],
      runs: [{ row_in_run: 3, outcome: 'duplicate', duplicate_of: 2 }],
    },
  ],
  [
    'that is invalid',
    5,
    {
      cells: { evaluation_id: 'x', user_id: 'u', note: 'd' },
      request: null,
      problems: [{ column: 'evaluation_id', value: 'x' }],
      runs: [
        { outcome: 'invalid', code: 'INVALID_ROW', message: expect.stringContaining('evaluation_id: ') },
      ],
    },
  ],
])('tells of a row %s, by its number in the manifest', async (_what, row, told) => {
  const { store, first, retry } = await retriedRun();
  for (const named of [first, retry])
    expect(rowDocument(await rowHistory(store, named, row))).toMatchObject({ run: first.id, row, ...told });
});

test.each([0, 1, 7])('the row %d does not exist', async (row) => {
  const { store, first } = await retriedRun();
  await expect(rowHistory(store, first, row)).rejects.toMatchObject({
    kind: 'usage',
    code: 'ROW_UNKNOWN',
    message: expect.stringContaining(`has no row ${row}: `),
  });
});
