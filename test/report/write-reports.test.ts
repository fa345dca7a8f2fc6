import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Operation } from '../../jobs/operation.ts';
import { outcomes, type RowHistory, type RowResult } from '../../src/domain.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open.ts';
import { Cells } from '../../src/manifest/cells.ts';
import type { ManifestRow } from '../../src/manifest/row.ts';
import type { RunSummary } from '../../src/report/summary.ts';
import { type ReportInput, writeReports } from '../../src/report/write-reports.ts';
import { anyHistory, anyResult, anyText, resultOf } from '../journal/arbitraries.ts';
import { readFedBack, readRecords } from './read-back.ts';
import { inChunks } from './rows.ts';

const clearToken = '<clear>';

let folder: string;
let journal: Journal;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cqbatch-report-'));
  journal = await openJournal(join(folder, 'journal.jsonl'), { runId: 'r1' });
});

afterEach(async () => {
  await journal.close();
  await rm(folder, { recursive: true });
});

async function emptyJournal(): Promise<void> {
  await journal.close();
  await rm(join(folder, 'journal.jsonl'));
  journal = await openJournal(join(folder, 'journal.jsonl'), { runId: 'r1' });
}

/** An operation of which only the report's columns matter. */
const operation = { name: 'restore-evaluation', columns: ['score', 'state'] } as unknown as Operation;

function inputOf(rows: readonly ManifestRow[], more: Partial<ReportInput> = {}): ReportInput {
  return {
    folder,
    rows: inChunks(rows, 3),
    columns: ['evaluation_id', 'note'],
    clearToken,
    defaults: new Map(),
    operations: [operation],
    operationOf: () => 'restore-evaluation',
    journal,
    run: {
      id: 'r1',
      state: 'completed',
      manifest: { name: 'evaluations.csv', sha256: 'ab12' },
      startedAt: '2026-01-01T00:00:00.000Z',
      finishedAt: '2026-01-01T00:00:04.000Z',
      activeMs: 4_000,
    },
    unfinished: 'interrupted',
    ...more,
  };
}

function rowsOf(...cells: readonly Readonly<Record<string, unknown>>[]): readonly ManifestRow[] {
  return cells.map((given, index) => ({
    row: index + 1,
    line: index + 2,
    cells: Object.assign(new Cells(), given),
  }));
}

async function filesThere(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name !== 'journal.jsonl').toSorted();
}

/** What a row is in a test of random runs. */
interface RandomRow {
  readonly cells: Readonly<Record<string, unknown>>;
  readonly fate: { readonly result?: RowResult; readonly history?: RowHistory; readonly fed?: boolean };
}

const columns = ['evaluation_id', '=note', 'constructor', 'título', 'a,"b"\n'];

const anyCell = fc.oneof(
  anyText,
  fc.constantFrom(
    '',
    clearToken,
    `'${clearToken}`,
    null,
    '=1+1',
    "'=1",
    '-5',
    '@x',
    '\t',
    '9'.repeat(19),
    2n ** 63n - 1n,
  ),
  fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
);

const anyRow: fc.Arbitrary<RandomRow> = fc.record({
  cells: fc.record(Object.fromEntries(columns.map((column) => [column, anyCell])), { requiredKeys: [] }),
  fate: fc.oneof(
    anyResult().map((result) => ({ result })),
    anyHistory.map((history) => ({ history })),
    fc.constant({ fed: true }),
    fc.constant({}),
  ),
});

/** How a cell reads back from CSV: what is absent or null is left out, JSON values are JSON text. */
function readsBackAs(cells: RandomRow['cells']): Record<string, string> {
  const text = (value: unknown): string =>
    typeof value === 'string' ? value : typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  const given = Object.entries(cells).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given.map(([column, value]) => [column, text(value)]));
}

/** Puts the fates of the rows into a new journal and writes the report. */
async function report(random: readonly RandomRow[], more: Partial<ReportInput> = {}) {
  await emptyJournal();
  for (const [index, { fate }] of random.entries()) {
    const row = index + 1;
    if (fate.fed) await journal.append([{ type: 'fed', first: row, last: row }]);
    if (fate.history) await journal.append([{ type: 'open', row, history: fate.history }]);
    if (fate.result) await journal.append([{ type: 'row', result: { ...fate.result, row } }]);
  }
  const written = await writeReports(
    inputOf(rowsOf(...random.map(({ cells }) => cells)), { columns, ...more }),
  );
  const { paths } = written;
  return {
    ...written,
    report: await readRecords(paths.report),
    failed: paths.failed === undefined ? undefined : await readRecords(paths.failed),
    notAttempted: paths.notAttempted === undefined ? undefined : await readRecords(paths.notAttempted),
  };
}

type Records = readonly Readonly<Record<string, string>>[];

function rowNumbers(records: Records): readonly (string | undefined)[] {
  return records.map((record) => record['_row']);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

describe('a report of any run', () => {
  test('has every row once, in order, with its result where there is one', async () => {
    const anyEnd = fc.constantFrom('pending', 'interrupted', 'cancelled', 'halted' as const);
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 20 }), anyEnd, async (random, unfinished) => {
        const written = await report(random, { unfinished });
        expect(rowNumbers(written.report)).toEqual(random.map((_, index) => String(index + 1)));
        const withoutResult = unfinished === 'pending' ? ['not_attempted'] : ['failed', 'not_attempted'];
        for (const [index, { fate }] of random.entries()) {
          const allowed = fate.result === undefined ? withoutResult : [fate.result.outcome];
          expect(allowed).toContain(written.report[index]?.['_outcome']);
        }

        const having = (...wanted: readonly string[]): Records =>
          written.report.filter((record) => wanted.includes(record['_outcome'] ?? ''));
        const failed = having('failed', 'invalid');
        const notAttempted = unfinished === 'pending' ? [] : having('not_attempted');
        expect(rowNumbers(written.failed ?? [])).toEqual(rowNumbers(failed));
        expect(rowNumbers(written.notAttempted ?? [])).toEqual(rowNumbers(notAttempted));
        expect(written.failed?.length).not.toBe(0);
        expect(written.notAttempted?.length).not.toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  test('adds up in its summary', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 20 }), async (random) => {
        const { report: records, summary, paths } = await report(random);
        expect(summary).toEqual(JSON.parse(await readFile(paths.summary, 'utf8')));
        expect(summary.manifest.rows).toBe(random.length);
        for (const outcome of outcomes) {
          const count = records.filter((record) => record['_outcome'] === outcome).length;
          const codes = summary.codes.filter((entry) => entry.outcome === outcome);
          expect(summary.outcomes[outcome]).toBe(count);
          expect(sum(summary.operations.map((entry) => entry.outcomes[outcome]))).toBe(count);
          expect(sum(codes.map((entry) => entry.count))).toBe(count);
        }
        expect(summary.unclear).toBe(records.filter((record) => record['_unclear'] === 'yes').length);
        expect(summary.attempts).toBe(sum(records.map((record) => Number(record['_attempts']))));
        for (const { row, outcome, code } of summary.codes) {
          expect(records[row - 1]?.['_outcome']).toBe(outcome);
          expect(random[row - 1]?.fate.result?.code ?? code).toBe(code);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('neutralises every cell that a spreadsheet would run', async () => {
    const evil = { score: '=1+1', state: '@SUM(A1)' };
    const anyEvilRow = anyRow.map(({ cells, fate }) => ({
      cells,
      fate: fate.result === undefined ? fate : { result: { ...fate.result, columns: evil } },
    }));
    await fc.assert(
      fc.asyncProperty(fc.array(anyEvilRow, { minLength: 1, maxLength: 5 }), async (random) => {
        const written = await report(random);
        const records = [...written.report, ...(written.failed ?? []), ...(written.notAttempted ?? [])];
        for (const text of records.flatMap((record) => Object.entries(record).flat())) {
          if (/^[=+\-@\t\r\n＝＋－＠]/.test(text)) expect(text).toMatch(/^[+-]?\d+([.,]\d+)?$/);
        }
      }),
      { numRuns: 40 },
    );
  });

  test.each(['failed', 'notAttempted'] as const)(
    'feeds back the very cells, from the file %s',
    async (file) => {
      const result = resultOf(1, { outcome: 'failed', code: 'NOT_FOUND' });
      const anyFedBackRow = anyRow.map(({ cells }) => ({ cells, fate: file === 'failed' ? { result } : {} }));
      await fc.assert(
        fc.asyncProperty(fc.array(anyFedBackRow, { minLength: 1, maxLength: 6 }), async (random) => {
          const written = await report(random);
          const back = await readFedBack(written.paths[file] ?? '');
          let altered = 0;
          for (const [index, { cells }] of random.entries()) {
            const expected = { ...readsBackAs(cells), operation: 'restore-evaluation' };
            const message = written.failed?.[index]?.['_error_message'] ?? '';
            if (Object.values(expected).some((text) => /\p{Cs}/u.test(text))) {
              altered++;
              if (file === 'failed') expect(message).toContain('cqbatch retry');
            } else {
              expect(back[index]).toEqual(expected);
              expect(message).toBe('');
            }
          }
          expect(written.alteredRows).toBe(altered);
        }),
        { numRuns: 40 },
      );
    },
  );
});

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
  await journal.append(results.map((result) => ({ type: 'row', result })));
  const rows = rowsOf(
    { evaluation_id: '17' },
    { evaluation_id: '9223372036854775807', note: '' },
    { evaluation_id: '17' },
    { note: '<clear>' },
    { evaluation_id: 18n },
  );
  const written = await writeReports(
    inputOf(rows, {
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
  const none = { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, not_attempted: 0 };
  expect(written.summary).toEqual({
    version: 1,
    run: 'r1',
    state: 'completed',
    manifest: { name: 'evaluations.csv', sha256: 'ab12', rows: 5 },
    started_at: '2026-01-01T00:00:00.000Z',
    finished_at: '2026-01-01T00:00:04.000Z',
    duration_s: 4,
    outcomes: { succeeded: 1, failed: 1, invalid: 1, duplicate: 1, not_attempted: 1 },
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
    attempts: 3,
    unprocessed: 0,
    rows_per_s: 0.5,
    latency_ms: { p50: 40, p90: 40, p99: 40, max: 40 },
    rate: null,
  } satisfies RunSummary);
});

describe('the files', () => {
  test('are readable by their owner only, and nothing is left beside them', async () => {
    await journal.append([{ type: 'row', result: resultOf(1, { outcome: 'failed', code: 'NOT_FOUND' }) }]);
    await writeReports(inputOf(rowsOf({}, {})));
    expect(await filesThere()).toEqual(['failed.csv', 'not-attempted.csv', 'report.csv', 'summary.json']);
    for (const name of await filesThere()) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  test('of an earlier report go away when there are no such rows any more', async () => {
    await journal.append([{ type: 'row', result: resultOf(1, { outcome: 'failed', code: 'NOT_FOUND' }) }]);
    const rows = rowsOf({}, {});
    await writeReports(inputOf(rows));
    const running = await writeReports(inputOf(rows, { unfinished: 'pending' }));
    expect(running.paths.notAttempted).toBeUndefined();
    expect(await filesThere()).toEqual(['failed.csv', 'report.csv', 'summary.json']);
    await journal.append([{ type: 'row', result: resultOf(2) }]);
    await writeReports(inputOf(rows));
    expect(await filesThere()).toEqual(['failed.csv', 'report.csv', 'summary.json']);
  });

  test('of an empty manifest are a header and zeros', async () => {
    const { paths, summary } = await writeReports(inputOf([]));
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

  test('stay those of the last report when a new one fails', async () => {
    await writeReports(inputOf(rowsOf({ note: 'first' })));
    const before = await readFile(join(folder, 'report.csv'));
    const cutOff = async function* (): AsyncGenerator<readonly ManifestRow[]> {
      yield rowsOf({ note: 'second' });
      throw new Error('cut off');
    };
    await expect(writeReports(inputOf([], { rows: cutOff() }))).rejects.toThrow('cut off');
    expect(await readFile(join(folder, 'report.csv'))).toEqual(before);
    expect(await filesThere()).toEqual(['not-attempted.csv', 'report.csv', 'summary.json']);
  });

  test('are not written when a row has a cell of an unknown column', async () => {
    await expect(writeReports(inputOf(rowsOf({ note: 'a', memo: 'b' })))).rejects.toMatchObject({
      kind: 'fatal',
      code: 'REPORT_INCOMPLETE',
      message: expect.stringContaining('row 1 of the manifest has a column "memo"'),
    });
    expect(await filesThere()).toEqual([]);
  });

  test('that cannot be written are a fatal error with the remedy', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(writeReports(inputOf(rowsOf({}), { folder: join(folder, 'file') }))).rejects.toMatchObject({
      kind: 'fatal',
      code: 'REPORT_UNWRITABLE',
      message: expect.stringContaining('report.csv'),
    });
  });
});
