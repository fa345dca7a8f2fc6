import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AttemptHistory, RowResult } from '../../../src/domain/row-result.ts';
import { type Outcome, outcomes } from '../../../src/domain/terms.ts';
import { countRows, type JoinInput } from '../../../src/engine/report/join-results.ts';
import { type ReportInput, writeReports } from '../../../src/engine/report/write-reports.ts';
import type { CellTexts, PlannedRow } from '../../../src/engine/rows/row.ts';
import { RowsSummary, type SummarizedRows } from '../../../src/engine/rows/rows-summary.ts';
import { callableRow, invalidRow, leftOutRow, restoreEvaluation } from '../../helpers/planned-row.ts';
import { anyHistory, anyResult, anyText, resultOf } from '../journal/arbitraries.ts';
import { clearToken, emptyRun, inputOf, readFedBack, readRecords } from './reporting.ts';

const before = { source: '=r', row: 3 };

/** What the plan makes of a row that is not called, with its outcome. */
const decisions = {
  unknown: ['invalid', (row, cells) => invalidRow(row, cells)],
  invalid: ['invalid', (row, cells) => invalidRow(row, cells, { operation: restoreEvaluation })],
  duplicate: ['duplicate', (row, cells) => leftOutRow(row, { why: 'duplicate', of: 1 }, cells)],
  superseded: ['skipped', (row, cells) => leftOutRow(row, { why: 'superseded', by: 99 }, cells)],
  done: ['skipped', (row, cells) => leftOutRow(row, { why: 'done', before }, cells)],
} as const satisfies Readonly<
  Record<string, readonly [Outcome, (row: number, cells: CellTexts) => PlannedRow]>
>;

const decisionNames = Object.keys(decisions) as (keyof typeof decisions)[];

/** A row of a random run. */
interface RandomRow {
  readonly cells: CellTexts;
  readonly fate: {
    readonly decided?: keyof typeof decisions;
    readonly result?: RowResult;
    readonly history?: AttemptHistory;
    readonly fed?: boolean;
  };
}

function rowOf({ cells, fate: { decided } }: RandomRow, index: number): PlannedRow {
  const row = index + 1;
  return decided === undefined ? callableRow(row, cells) : decisions[decided][1](row, cells);
}

/** The outcome that the plan or the journal knows. */
function knownOutcome({ fate: { decided, result } }: RandomRow): Outcome | undefined {
  return decided === undefined ? result?.outcome : decisions[decided][0];
}

const columns = ['evaluation_id', '=note', 'constructor', 'título', 'a,"b"\n'].map((title, index) =>
  index === 0 ? { title, field: title } : { title },
);

const anyCell = fc.oneof(
  anyText,
  fc.constantFrom('', clearToken, `'${clearToken}`, null, '=1+1', "'=1", '-5', '@x', '\t', '9'.repeat(19)),
  fc.jsonValue().map((value) => JSON.stringify(value)),
);

const anyRow: fc.Arbitrary<RandomRow> = fc.record({
  cells: fc.array(anyCell, { maxLength: columns.length }),
  fate: fc.oneof(
    anyResult().map((result) => ({ result })),
    anyHistory.map((history) => ({ history })),
    fc.constantFrom(...decisionNames).map((decided) => ({ decided })),
    fc.constant({ fed: true }),
    fc.constant({}),
  ),
});

/** Cells as read back from CSV: absent cells are left out. */
function readsBackAs(cells: CellTexts): Record<string, string> {
  const given = columns.flatMap(({ title }, place) => {
    const text = cells[place] ?? null;
    return text === null ? [] : [[title, text] as const];
  });
  return Object.fromEntries(given);
}

/** What a plan says of the rows. */
function planOf(random: readonly RandomRow[]): SummarizedRows {
  const summary = new RowsSummary();
  for (const row of random.map(rowOf)) summary.add(row, false);
  return summary.summary();
}

/** Writes the results of the rows into a new journal, then the report. */
async function report(random: readonly RandomRow[], more: Partial<ReportInput & JoinInput> = {}) {
  const run = await emptyRun();
  for (const [index, { fate }] of random.entries()) {
    const row = index + 1;
    if (fate.fed) await run.journal.append([{ type: 'fed', first: row, last: row, batch: 'b' }]);
    if (fate.history) await run.journal.append([{ type: 'open', row, history: fate.history }]);
    if (fate.result) await run.journal.append([{ type: 'row', result: { ...fate.result, row } }]);
  }
  const written = await writeReports(inputOf(run, random.map(rowOf), { columns, ...more }));
  const { paths } = written;
  return {
    ...written,
    journal: run.journal,
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

const anyRows = fc.array(anyRow, { maxLength: 20 });

async function forAny<Values extends [unknown, ...unknown[]]>(
  values: { readonly [Place in keyof Values]: fc.Arbitrary<Values[Place]> },
  holds: (...values: Values) => Promise<void>,
): Promise<void> {
  await fc.assert(fc.asyncProperty<Values>(...values, holds), { numRuns: 25 });
}

test('a report has every row once, in order, with its result if any', async () => {
  const anyEnd = fc.constantFrom('pending', 'interrupted', 'cancelled', 'halted' as const);
  await forAny([anyRows, anyEnd], async (random, unfinished) => {
    const written = await report(random, { unfinished });
    expect(rowNumbers(written.report)).toEqual(random.map((_, index) => String(index + 1)));
    for (const [index, row] of random.entries()) {
      const isHeld = unfinished === 'pending' || row.fate.fed === true;
      const withoutResult = isHeld ? ['pending'] : ['failed', 'not_attempted'];
      const known = knownOutcome(row);
      const allowed = known === undefined ? withoutResult : [known];
      expect(allowed).toContain(written.report[index]?.['_outcome']);
    }

    const having = (...wanted: readonly string[]): Records =>
      written.report.filter((record) => wanted.includes(record['_outcome'] ?? ''));
    const failed = having('failed', 'invalid');
    const notAttempted = having('not_attempted');
    expect(rowNumbers(written.failed ?? [])).toEqual(rowNumbers(failed));
    expect(rowNumbers(written.notAttempted ?? [])).toEqual(rowNumbers(notAttempted));
    expect(written.failed?.length).not.toBe(0);
    expect(written.notAttempted?.length).not.toBe(0);
  });
});

test('the counts of a plan and a journal match those of their report', async () => {
  const anyEnd = fc.constantFrom('interrupted', 'cancelled', 'halted' as const);
  await forAny([anyRows, anyEnd], async (random, unfinished) => {
    const { summary, journal } = await report(random, { unfinished });
    const { done, outcomes: counted, unclear, codes } = countRows(journal, planOf(random), unfinished);
    expect(counted).toEqual(summary.outcomes);
    expect(unclear).toBe(summary.unclear);
    const rowsByCode = (of: typeof codes) =>
      new Map(of.map(({ outcome, code, count }) => [`${outcome} ${code}`, count]));
    expect(rowsByCode(codes)).toEqual(rowsByCode(summary.codes));
    expect(done).toBe(random.filter((row) => knownOutcome(row) !== undefined).length);

    // In a run in progress, only finished rows have an outcome; the report shows the others as pending.
    const going = countRows(journal, planOf(random), 'pending');
    const pending = (await report(random, { unfinished: 'pending' })).summary;
    expect({
      ...going.outcomes,
      pending: going.outcomes.pending + random.length - done,
    }).toEqual(pending.outcomes);
    expect(going.unclear).toBe(pending.unclear);
  });
});

test('the summary of a report adds up', async () => {
  await forAny([anyRows], async (random) => {
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
  });
});

test('a report guards every cell that a spreadsheet would run', async () => {
  const evil = { score: '=1+1', state: '@SUM(A1)' };
  const anyEvilRow = anyRow.map(({ cells, fate }) => ({
    cells,
    fate: fate.result === undefined ? fate : { result: { ...fate.result, columns: evil } },
  }));
  await forAny([fc.array(anyEvilRow, { minLength: 1, maxLength: 5 })], async (random) => {
    const written = await report(random);
    const records = [...written.report, ...(written.failed ?? []), ...(written.notAttempted ?? [])];
    for (const text of records.flatMap((record) => Object.entries(record).flat())) {
      if (/^[=+\-@\t\r\n＝＋－＠]/.test(text)) expect(text).toMatch(/^[+-]?\d+([.,]\d+)?$/);
    }
  });
});

test.each(['failed', 'notAttempted'] as const)(
  'a report feeds back the very cells, from the file %s',
  async (file) => {
    const result = resultOf(1, { outcome: 'failed', code: 'NOT_FOUND' });
    const anyFedBackRow = anyRow.map(({ cells }) => ({ cells, fate: file === 'failed' ? { result } : {} }));
    await forAny([fc.array(anyFedBackRow, { minLength: 1, maxLength: 6 })], async (random) => {
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
    });
  },
);
