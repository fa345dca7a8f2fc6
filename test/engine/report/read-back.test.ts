import { expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { delimiters } from '../../../src/base/text/delimiter.ts';
import type { Outcome } from '../../../src/domain/terms.ts';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { joinResults } from '../../../src/engine/report/join-results.ts';
import { writeReports } from '../../../src/engine/report/write-reports.ts';
import { writeXlsxReport } from '../../../src/engine/report/xlsx-report.ts';
import { readReport } from '../../../src/engine/run/plan/read-report.ts';
import { callableRow } from '../../helpers/planned-row.ts';
import { resultOf } from '../journal/arbitraries.ts';
import { clearToken, emptyRun, inChunks, inputOf, readFedBack } from './reporting.ts';

/** Texts that a format may not hold: delimiters, line ends, formulas, blanks, and characters that XML can't have. */
const notes = [
  ['succeeded', 'a,b;c\td|e "f"'],
  ['failed', 'two\nlines,;\t|\r\nand "three"'],
  ['failed', '=SUM(1)'],
  ['failed', "'<clear>"],
  ['not_attempted', ' blanks '],
  ['not_attempted', '\ufffe\uffff\u0000_x0041_'],
  ['not_attempted', 'Jose\u0301 Grüße 🎧'],
  ['not_attempted', ''],
] as const;

const evaluations = notes.map((_, index) => String(9007199254740993n + BigInt(index)));

/** The files of a run that has ended. */
async function filesOf(delimiter: (typeof delimiters)[number]) {
  const run = await emptyRun();
  const rows = notes.map(([, note], index) => callableRow(index + 1, [evaluations[index] ?? '', note]));
  for (const [index, [outcome]] of notes.entries())
    if (outcome !== 'not_attempted')
      await run.journal.append([{ type: 'row', result: resultOf(index + 1, { outcome }) }]);
  const input = inputOf(run, rows);
  const { paths } = await writeReports({ ...input, run: { ...input.run, delimiter } });
  const readLines = async () =>
    joinResults({ rows: inChunks(rows, 3), journal: run.journal, unfinished: 'interrupted', runKey: 'k1' });
  return { ...paths, xlsx: await writeXlsxReport({ ...input, readLines }) };
}

const expected = (wanted: Outcome): unknown =>
  notes.flatMap(([outcome, note], index) =>
    outcome === wanted ? [{ evaluation_id: evaluations[index], note }] : [],
  );

test.each(delimiters)(
  'every file that feeds back reads back as it was, delimited by %j',
  async (delimiter) => {
    const files = await filesOf(delimiter);
    const cellsIn = async (path: string | undefined) =>
      (await readFedBack(path ?? '')).map(({ evaluation_id, note }) => ({ evaluation_id, note }));
    expect(await cellsIn(files.failed)).toEqual(expected('failed'));
    expect(await cellsIn(files.notAttempted)).toEqual(expected('not_attempted'));
    for (const path of [files.report, files.xlsx]) {
      const done: unknown[] = [];
      const known = { clearToken, operations };
      for await (const rows of readReport(path, known))
        done.push(...rows.map(({ subject, outcome }) => [subject, outcome]));
      expect(done).toEqual(notes.map(([outcome], index) => [evaluations[index], outcome]));
      expect((await openManifest(path)).columns()).toEqual(['evaluation_id', 'note']);
    }
  },
);
