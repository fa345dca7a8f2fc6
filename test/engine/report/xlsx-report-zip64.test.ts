import { readFile } from 'node:fs/promises';
import { writeXlsxStream } from 'hucre/xlsx';
import { expect, test, vi } from 'vitest';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { writeXlsxReport } from '../../../src/engine/report/xlsx-report.ts';
import { callableRow } from '../../helpers/planned-row.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { resultOf } from '../journal/arbitraries.ts';
import { allRows } from '../manifest/reading.ts';

vi.mock('hucre/xlsx', { spy: true });

const zip64Record = Buffer.from('PK\x06\x06', 'latin1');

/** A report of three rows. */
async function report(): Promise<string> {
  async function* lines() {
    yield [1, 2, 3].map((row) => ({ row: callableRow(row, [String(row)]), result: resultOf(row) }));
  }
  return await writeXlsxReport({
    folder: await temporaryFolder(),
    readLines: async () => lines(),
    columns: [{ title: 'evaluation_id' }],
    clear_token: '<clear>',
    operations: [],
  });
}

async function idsIn(path: string): Promise<unknown> {
  return (await allRows(await openManifest(path))).map(({ cells }) => cells['evaluation_id']);
}

test('a workbook of usual size has no ZIP64, which LibreOffice does not read', async () => {
  const path = await report();
  expect((await readFile(path)).includes(zip64Record)).toBe(false);
  expect(await idsIn(path)).toEqual(['1', '2', '3']);
});

test('a workbook with a part of 4 GiB is written again with ZIP64, and can be read', async () => {
  vi.mocked(writeXlsxStream).mockImplementationOnce((rows) => {
    const error = Object.assign(new Error('ZIP entry size exceeds the 4 GiB limit'), { name: 'ZipError' });
    return new ReadableStream({
      async start(controller) {
        for await (const row of rows) controller.enqueue(new TextEncoder().encode(String(row)));
        controller.error(error);
      },
    });
  });
  const path = await report();
  expect((await readFile(path)).includes(zip64Record)).toBe(true);
  expect(await idsIn(path)).toEqual(['1', '2', '3']);
});
