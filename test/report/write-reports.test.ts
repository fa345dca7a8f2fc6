import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ManifestRow } from '../../src/manifest/manifest.ts';
import type { RunSummary } from '../../src/report/summary.ts';
import { writeReports } from '../../src/report/write-reports.ts';
import { resultOf } from '../journal/arbitraries.ts';
import { emptyRun, inputOf, type Run, readRecords, rowsOf } from './reporting.ts';

let run: Run;

beforeEach(async () => {
  run = await emptyRun();
});

async function filesThere(): Promise<readonly string[]> {
  return (await readdir(run.folder)).filter((name) => name !== 'journal.jsonl').toSorted();
}

test('a report looks like this', async () => {
  const results = [
    resultOf(1, {
      httpStatus: 200,
      startedAt: '2026-01-01T00:00:00.000Z',
      finishedAt: '2026-01-01T00:00:00.040Z',
      durationMs: 40,
      columns: { score: '87.5' },
    }),
    resultOf(2, {
      outcome: 'failed',
      code: 'NOT_FOUND',
      message: '=no such evaluation',
      httpStatus: 404,
      attempts: 2,
      unclear: true,
    }),
    resultOf(3, { outcome: 'duplicate', code: 'DUPLICATE', attempts: 0, duplicateOf: 1 }),
    resultOf(4, {
      operation: '',
      outcome: 'invalid',
      code: 'INVALID_ROW',
      message: 'evaluation_id is missing',
      attempts: 0,
    }),
  ];
  await run.journal.append(results.map((result) => ({ type: 'row', result })));
  const rows = rowsOf(
    { evaluation_id: '17' },
    { evaluation_id: '9223372036854775807', note: '' },
    { evaluation_id: '17' },
    { note: '<clear>' },
    { evaluation_id: 18n },
  );
  const written = await writeReports(
    inputOf(run, rows, {
      unfinished: 'cancelled',
      defaults: new Map([['user_id', 'jane']]),
      operationOf: ({ row }) => (row === 4 ? '' : 'restore-evaluation'),
    }),
  );

  const columnsAdded =
    '_row,_operation,_outcome,_code,_message,_http_status,_attempts,_unclear,_started_at,_finished_at,_duration_ms,_score,_state';
  expect(await readFile(written.paths.report, 'utf8')).toBe(
    `\ufeffevaluation_id,note,${columnsAdded}
17,,1,restore-evaluation,succeeded,OK,,200,1,,2026-01-01T00:00:00.000Z,2026-01-01T00:00:00.040Z,40,87.5,
9223372036854775807,<clear>,2,restore-evaluation,failed,NOT_FOUND,'=no such evaluation,404,2,yes,,,,,
17,,3,restore-evaluation,duplicate,DUPLICATE,same as row 1,,0,,,,,,
,'<clear>,4,,invalid,INVALID_ROW,evaluation_id is missing,,0,,,,,,
18,,5,restore-evaluation,not_attempted,CANCELLED,the run was cancelled,,0,,,,,,
`,
  );
  expect(await readFile(written.paths.failed ?? '', 'utf8')).toBe(
    `\ufeffevaluation_id,note,operation,user_id,_row,_error_code,_error_message,_error_unclear,_guarded
9223372036854775807,<clear>,restore-evaluation,jane,2,NOT_FOUND,'=no such evaluation,yes,yes
,'<clear>,,jane,4,INVALID_ROW,evaluation_id is missing,,yes
`,
  );
  expect(await readFile(written.paths.notAttempted ?? '', 'utf8')).toBe(
    `\ufeffevaluation_id,note,operation,user_id,_row,_guarded
18,,restore-evaluation,jane,5,yes
`,
  );
  const none = { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0 };
  expect(written.summary).toEqual({
    version: 1,
    run: 'r1',
    state: 'completed',
    manifest: { name: 'evaluations.csv', sha256: 'ab12', rows: 5 },
    started_at: '2026-01-01T00:00:00.000Z',
    finished_at: '2026-01-01T00:00:04.000Z',
    duration_s: 4,
    outcomes: { succeeded: 1, failed: 1, invalid: 1, duplicate: 1, skipped: 0, not_attempted: 1 },
    operations: [
      {
        operation: 'restore-evaluation',
        outcomes: { ...none, succeeded: 1, failed: 1, duplicate: 1, not_attempted: 1 },
      },
      { operation: '', outcomes: { ...none, invalid: 1 } },
    ],
    codes: [
      { outcome: 'succeeded', code: 'OK', count: 1, message: '', row: 1 },
      { outcome: 'failed', code: 'NOT_FOUND', count: 1, message: '=no such evaluation', row: 2 },
      { outcome: 'invalid', code: 'INVALID_ROW', count: 1, message: 'evaluation_id is missing', row: 4 },
      { outcome: 'duplicate', code: 'DUPLICATE', count: 1, message: 'same as row 1', row: 3 },
      { outcome: 'not_attempted', code: 'CANCELLED', count: 1, message: 'the run was cancelled', row: 5 },
    ],
    unclear: 1,
    unclear_failed: 1,
    attempts: 3,
    unprocessed: 0,
    rows_per_s: 0.5,
    latency_ms: { p50: 40, p90: 40, p99: 40, max: 40 },
    rate: null,
    retry_of: null,
    retries: [],
  } satisfies RunSummary);
});

describe('the files', () => {
  test('are readable by their owner only, without temporary files beside them', async () => {
    await run.journal.append([
      { type: 'row', result: resultOf(1, { outcome: 'failed', code: 'NOT_FOUND' }) },
    ]);
    await writeReports(inputOf(run, rowsOf({}, {})));
    expect(await filesThere()).toEqual(['failed.csv', 'not-attempted.csv', 'report.csv', 'summary.json']);
    for (const name of await filesThere())
      expect((await stat(join(run.folder, name))).mode & 0o777).toBe(0o600);
  });

  test('of an earlier report are removed when there are no such rows', async () => {
    await run.journal.append([
      { type: 'row', result: resultOf(1, { outcome: 'failed', code: 'NOT_FOUND' }) },
    ]);
    const rows = rowsOf({}, {});
    await writeReports(inputOf(run, rows));
    const running = await writeReports(inputOf(run, rows, { unfinished: 'pending' }));
    expect(running.paths.notAttempted).toBeUndefined();
    expect(await filesThere()).toEqual(['failed.csv', 'report.csv', 'summary.json']);
    await run.journal.append([{ type: 'row', result: resultOf(2) }]);
    await writeReports(inputOf(run, rows));
    expect(await filesThere()).toEqual(['failed.csv', 'report.csv', 'summary.json']);
  });

  test('of an empty manifest are a header and zeros', async () => {
    const { paths, summary } = await writeReports(inputOf(run, []));
    expect(await readRecords(paths.report)).toEqual([]);
    expect(summary).toMatchObject({
      manifest: { rows: 0 },
      codes: [],
      operations: [],
      latency_ms: null,
      rows_per_s: 0,
    });
    expect(await filesThere()).toEqual(['report.csv', 'summary.json']);
  });

  test('of the previous report stay when a new report fails', async () => {
    await writeReports(inputOf(run, rowsOf({ note: 'first' })));
    const before = await readFile(join(run.folder, 'report.csv'));
    const cutOff = async function* (): AsyncGenerator<readonly ManifestRow[]> {
      yield rowsOf({ note: 'second' });
      throw new Error('cut off');
    };
    await expect(writeReports(inputOf(run, [], { rows: cutOff() }))).rejects.toThrow('cut off');
    expect(await readFile(join(run.folder, 'report.csv'))).toEqual(before);
    expect(await filesThere()).toEqual(['not-attempted.csv', 'report.csv', 'summary.json']);
  });

  test('are not written when a row has a cell of an unknown column', async () => {
    await expect(writeReports(inputOf(run, rowsOf({ note: 'a', memo: 'b' })))).rejects.toMatchObject({
      kind: 'fatal',
      code: 'REPORT_INCOMPLETE',
      message: expect.stringContaining('row 1 of the manifest has a column "memo"'),
    });
    expect(await filesThere()).toEqual([]);
  });

  test("that can't be written are a fatal error with the remedy", async () => {
    await writeFile(join(run.folder, 'file'), '');
    await expect(
      writeReports(inputOf(run, rowsOf({}), { folder: join(run.folder, 'file') })),
    ).rejects.toMatchObject({
      kind: 'fatal',
      code: 'REPORT_UNWRITABLE',
      message: expect.stringContaining('report.csv'),
    });
  });
});
