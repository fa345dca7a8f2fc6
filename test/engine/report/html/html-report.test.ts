import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { ReportLine } from '../../../../src/engine/report/join-results.ts';
import { writePageOf } from '../../../helpers/page-lines.ts';
import { callableRow } from '../../../helpers/planned-row.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

/** Rows as a run leaves them: identifiers in no order, calls some milliseconds apart, one row in fifty failed. */
function* restored(rows: number): Generator<readonly ReportLine[]> {
  let state = 1;
  const draw = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  let started = Date.UTC(2026, 0, 1);
  for (let row = 1; row <= rows; row += 1) {
    started += draw(8);
    const id = String(10_000_000 + draw(90_000_000));
    const durationMs = 20 + draw(200);
    const isBad = draw(50) === 0;
    yield [
      {
        row: callableRow(row, [id, 'qa-lead']),
        result: {
          row,
          operation: 'restore-evaluation',
          attempts: 1,
          unclear: false,
          durationMs,
          outcome: isBad ? 'failed' : 'succeeded',
          code: isBad ? 'NOT_FOUND' : 'OK',
          message: isBad ? `evaluation ${id} is not there` : '',
          httpStatus: isBad ? 404 : 200,
          startedAt: new Date(started).toISOString(),
          finishedAt: new Date(started + durationMs).toISOString(),
        },
      },
    ];
  }
}

test('a page of 100,000 rows has at most 3 MB', async () => {
  const folder = await temporaryFolder();
  const path = await writePageOf(restored(100_000), { folder, columns: ['evaluation_id', 'user_id'] });
  expect((await stat(path)).size).toBeLessThanOrEqual(3_000_000);
});

test('a failed write of the page is a failed report', async () => {
  const written = writePageOf([], { folder: '/nowhere', columns: [] });
  await expect(written).rejects.toMatchObject({ code: 'REPORT_UNWRITABLE' });
});
