import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { traceId } from '../../../src/domain/trace.ts';
import type { RunSummary } from '../../../src/engine/report/summary.ts';
import { writeReports } from '../../../src/engine/report/write-reports.ts';
import type { PlannedRow } from '../../../src/engine/rows/row.ts';
import { writePageOf } from '../../helpers/page-lines.ts';
import { callableRow, invalidRow, leftOutRow } from '../../helpers/planned-row.ts';
import { resultOf } from '../journal/arbitraries.ts';
import { emptyRun, inputOf, type Run, rowsOf } from './reporting.ts';

let run: Run;

beforeEach(async () => {
  run = await emptyRun();
});

async function filesThere(): Promise<readonly string[]> {
  return (await readdir(run.folder)).filter((name) => name !== 'journal.jsonl').toSorted();
}

const failed = (row: number) => resultOf(row, { outcome: 'failed', code: 'NOT_FOUND' });

test('a report looks like this', async () => {
  const results = [
    resultOf(1, {
      httpStatus: 200,
      startedAt: '2026-01-01T00:00:00.000Z',
      finishedAt: '2026-01-01T00:00:00.040Z',
      durationMs: 40.6,
      requestId: '-req-1',
      columns: { score: '87.5' },
    }),
    { ...failed(2), message: '=no such evaluation', httpStatus: 404, attempts: 2, unclear: true },
  ];
  await run.journal.append(results.map((result) => ({ type: 'row', result })));
  const rows = [
    callableRow(1, ['17']),
    callableRow(2, ['9223372036854775807', '']),
    leftOutRow(3, { why: 'duplicate', of: 1 }, ['17', null]),
    invalidRow(4, [null, '<clear>']),
    callableRow(5, ['18']),
    leftOutRow(6, { why: 'done', before: { source: 'r0', row: 9 } }, ['19']),
  ];
  const options = { unfinished: 'cancelled', defaults: { user_id: 'jane' } } as const;
  const written = await writeReports(inputOf(run, rows, options));

  const columnsAdded =
    '_row,_operation,_outcome,_code,_message,_http_status,_attempts,_unclear,_started_at,_finished_at,_duration_ms,_request_id,_score,_state';
  expect(await readFile(written.paths.report, 'utf8')).toBe(
    `\ufeffevaluation_id,note,${columnsAdded}
17,,1,restore-evaluation,succeeded,OK,,200,1,,2026-01-01T00:00:00.000Z,2026-01-01T00:00:00.040Z,41,'-req-1,87.5,
9223372036854775807,<clear>,2,restore-evaluation,failed,NOT_FOUND,'=no such evaluation,404,2,yes,,,,${traceId('k1', 2)},,
17,,3,restore-evaluation,duplicate,DUPLICATE,same as row 1,,0,,,,,,,
,'<clear>,4,,invalid,INVALID_ROW,evaluation_id: is missing,,0,,,,,,,
18,,5,restore-evaluation,not_attempted,CANCELLED,the run was cancelled,,0,,,,,,,
19,,6,restore-evaluation,skipped,DONE_BEFORE,"done before, in row 9 of r0",,0,,,,,,,
`,
  );
  expect(await readFile(written.paths.failed ?? '', 'utf8')).toBe(
    `\ufeffevaluation_id,note,operation,user_id,_row,_error_code,_error_message,_error_unclear,_guarded
9223372036854775807,<clear>,restore-evaluation,jane,2,NOT_FOUND,'=no such evaluation,yes,yes
,'<clear>,,jane,4,INVALID_ROW,evaluation_id: is missing,,yes
`,
  );
  expect(await readFile(written.paths.notAttempted ?? '', 'utf8')).toBe(
    `\ufeffevaluation_id,note,operation,user_id,_row,_guarded
18,,restore-evaluation,jane,5,yes
`,
  );
  const none = {
    succeeded: 0,
    failed: 0,
    invalid: 0,
    duplicate: 0,
    skipped: 0,
    not_attempted: 0,
    pending: 0,
  };
  expect(written.summary).toEqual({
    version: 1,
    run: 'r1',
    state: 'completed',
    manifest: { name: 'evaluations.csv', sha256: 'ab12', rows: 6 },
    started_at: '2026-01-01T00:00:00.000Z',
    finished_at: '2026-01-01T00:00:04.000Z',
    duration_s: 4,
    outcomes: {
      succeeded: 1,
      failed: 1,
      invalid: 1,
      duplicate: 1,
      skipped: 1,
      not_attempted: 1,
      pending: 0,
    },
    operations: [
      {
        operation: 'restore-evaluation',
        outcomes: { ...none, succeeded: 1, failed: 1, duplicate: 1, skipped: 1, not_attempted: 1 },
      },
      { operation: '', outcomes: { ...none, invalid: 1 } },
    ],
    codes: [
      { outcome: 'succeeded', code: 'OK', count: 1, unclear: 0, called: 1, message: '', row: 1 },
      {
        outcome: 'failed',
        code: 'NOT_FOUND',
        count: 1,
        unclear: 1,
        called: 1,
        message: '=no such evaluation',
        row: 2,
      },
      {
        outcome: 'invalid',
        code: 'INVALID_ROW',
        count: 1,
        unclear: 0,
        called: 0,
        message: 'evaluation_id: is missing',
        row: 4,
      },
      {
        outcome: 'duplicate',
        code: 'DUPLICATE',
        count: 1,
        unclear: 0,
        called: 0,
        message: 'same as row 1',
        row: 3,
      },
      {
        outcome: 'skipped',
        code: 'DONE_BEFORE',
        count: 1,
        unclear: 0,
        called: 0,
        message: 'done before, in row 9 of r0',
        row: 6,
      },
      {
        outcome: 'not_attempted',
        code: 'CANCELLED',
        count: 1,
        unclear: 0,
        called: 0,
        message: 'the run was cancelled',
        row: 5,
      },
    ],
    unclear: 1,
    already_done: 0,
    unclear_failed: 1,
    attempts: 3,
    unprocessed: 0,
    rows_per_s: 0.5,
    latency_ms: { p50: 41, p90: 41, p99: 41, max: 41 },
    rate: null,
    retry_of: null,
    retries: [],
    delimiter: ',',
    digests: null,
  } satisfies RunSummary);
});

describe('the files', () => {
  test('of an earlier report are removed when there are no such rows', async () => {
    await run.journal.append([{ type: 'row', result: failed(1) }]);
    const rows = rowsOf([], []);
    await writeReports(inputOf(run, rows));
    const running = await writeReports(inputOf(run, rows, { unfinished: 'pending' }));
    expect(running.paths.notAttempted).toBeUndefined();
    expect(await filesThere()).toEqual(['correct.csv', 'failed.csv', 'report.csv', 'summary.json']);
    await run.journal.append([{ type: 'row', result: resultOf(2) }]);
    await writeReports(inputOf(run, rows));
    expect(await filesThere()).toEqual(['correct.csv', 'failed.csv', 'report.csv', 'summary.json']);
  });

  test('of the previous report stay when a new report fails', async () => {
    await writeReports(inputOf(run, rowsOf([null, 'first'])));
    const before = await readFile(join(run.folder, 'report.csv'));
    const cutOff = async function* (): AsyncGenerator<readonly PlannedRow[]> {
      yield rowsOf([null, 'second']);
      throw new Error('cut off');
    };
    await expect(writeReports(inputOf(run, [], { rows: cutOff() }))).rejects.toThrow('cut off');
    expect(await readFile(join(run.folder, 'report.csv'))).toEqual(before);
    expect(await filesThere()).toEqual(['not-attempted.csv', 'report.csv', 'summary.json']);
  });

  test("that can't be removed after a failure hide nothing of it", async () => {
    const hindered = async function* (): AsyncGenerator<readonly PlannedRow[]> {
      yield rowsOf([null, 'first']);
      for (const name of await filesThere()) {
        await rm(join(run.folder, name));
        await mkdir(join(run.folder, name));
      }
      throw new Error('cut off');
    };
    await expect(writeReports(inputOf(run, [], { rows: hindered() }))).rejects.toThrow('cut off');
    expect(await filesThere()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^report\.csv\..*tmp$/)]),
    );
  });

  test("that can't be written are a fatal error with the remedy", async () => {
    await writeFile(join(run.folder, 'file'), '');
    const writing = writeReports(inputOf(run, rowsOf([]), { folder: join(run.folder, 'file') }));
    const message = expect.stringContaining('report.csv');
    await expect(writing).rejects.toMatchObject({ kind: 'fatal', code: 'REPORT_UNWRITABLE', message });
    const page = writePageOf([], { folder: '/nowhere', columns: [] });
    await expect(page).rejects.toMatchObject({ kind: 'fatal', code: 'REPORT_UNWRITABLE' });
  });
});
