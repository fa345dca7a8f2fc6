import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import { PackedRows } from '../../../../src/engine/report/html/packed-rows.ts';
import type { RowPortion } from '../../../../src/engine/report/html/page-data.ts';
import type { ReportLine } from '../../../../src/engine/report/join-results.ts';
import { callableRow } from '../../../helpers/planned-row.ts';
import { resultOf } from '../../journal/arbitraries.ts';

function line(row: number, result: Partial<RowResult> = {}, cell = ''): ReportLine {
  return { row: callableRow(row, [cell]), result: resultOf(row, result) };
}

const mostRows = 5_000;

/** The numbers of the packed rows, in the order of the page. */
async function packed(lines: Iterable<ReportLine>): Promise<readonly number[]> {
  const refeed = { columns: [{ title: 'text' }], clear_token: '<clear>', defaults: {} };
  const rows = new PackedRows({ refeed, operations: [], requestOf: () => undefined, mostRows });
  for (const each of lines) await rows.add([each]);
  const place = rows.columns.findIndex(({ name }) => name === 'row');
  return (await rows.end()).flatMap((base64) => {
    const portion: RowPortion = JSON.parse(gunzipSync(Buffer.from(base64, 'base64')).toString());
    return portion[place] ?? [];
  }) as number[];
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

test('rows that need the reader or are unclear are first, each group in the order of the manifest', async () => {
  const lines = [
    line(1),
    line(2, { outcome: 'not_attempted' }),
    line(3, { outcome: 'failed' }),
    line(4, { outcome: 'skipped' }),
    line(5, { unclear: true }),
    line(6, { outcome: 'duplicate' }),
    line(7, { outcome: 'invalid' }),
  ];
  expect(await packed(lines)).toEqual([3, 5, 7, 1, 2, 4, 6]);
});

test('of too many rows, the page has those that need the reader, and the first of the others', async () => {
  const needed = range(mostRows + 1, mostRows + 300);
  const lines = [
    ...range(1, mostRows).map((row) => line(row)),
    ...needed.map((row) => line(row, { outcome: 'failed' })),
  ];
  const numbers = await packed(lines);
  expect(numbers.slice(0, 300)).toEqual(needed);
  const others = numbers.slice(300);
  expect(others).toEqual(range(1, others.length));
  expect(numbers.length).toBeLessThanOrEqual(mostRows);
  expect(numbers.length).toBeGreaterThan(mostRows - 2_000);
});

test('of too many rows that need the reader, the page has the first ones and no other', async () => {
  function* lines() {
    yield line(1);
    for (let row = 2; row <= mostRows + 100; row += 1) yield line(row, { outcome: 'failed' });
  }
  expect(await packed(lines())).toEqual(range(2, mostRows + 1));
});

test('of rows that would make the page larger than 20 MB, it has those that need the reader and the first of the others', async () => {
  const incompressible = (row: number) =>
    line(row, { outcome: row % 10 === 0 ? 'failed' : 'succeeded' }, randomBytes(750_000).toString('base64'));
  const numbers = await packed(range(1, 30).map(incompressible));
  expect(numbers.slice(0, 3)).toEqual([10, 20, 30]);
  const others = range(1, 29).filter((row) => row % 10 !== 0);
  expect(numbers.slice(3)).toEqual(others.slice(0, numbers.length - 3));
  // Each takes a megabyte of base64.
  expect(numbers.length).toBeGreaterThanOrEqual(18);
  expect(numbers.length).toBeLessThanOrEqual(20);
});

test('the page says which cells the manifest does not have', () => {
  const operation = (columns: readonly string[]) => {
    const head = columns.map((title) => ({ title, field: title }));
    const refeed = { columns: head, clear_token: '<clear>', defaults: {} };
    const rows = new PackedRows({ refeed, operations: [], requestOf: () => undefined });
    return rows.columns.find(({ kind, name }) => kind === 'cell' && name === 'operation');
  };
  expect(operation(['id'])).toMatchObject({ isAdded: true });
  expect(operation(['id', 'operation'])).not.toHaveProperty('isAdded');
});
