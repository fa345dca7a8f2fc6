import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { problemCollector } from '../../../../src/engine/run/plan/problem-file.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

/** The digest of a manifest with this content. */
const digestOf = (text: string) => async () => createHash('sha256').update(text).digest('hex');

test('manifests of one name that are checked at once have a list each, also when one breaks off', async () => {
  const stateDir = await temporaryFolder();
  const lists = ['x', 'y', 'z'].map(async (text) => {
    const problems = problemCollector({ stateDir, name: 'in/a.csv', sha256Of: digestOf(text) });
    for (let row = 1; row <= 2_500; row++)
      await problems.add({ kind: 'invalid', row, line: row, problems: [{ problem: text }] });
    // Nothing more is read of it.
    if (text === 'z') return undefined;
    return (await problems.end()).file;
  });
  const files = await Promise.all(lists);
  const texts = await Promise.all(
    files.flatMap((file) => (file === undefined ? [] : [readFile(file, 'utf8')])),
  );
  expect(texts).toEqual(
    ['x', 'y'].map((text) =>
      Array.from({ length: 2_500 }, (_, i) => `in/a.csv:${i + 1}: row ${i + 1}: ${text}\n`).join(''),
    ),
  );
});

test('any number of problems goes into the file, the first ones to the screen, and memory does not grow', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  const stateDir = await temporaryFolder();
  const path = join(stateDir, 'problems', 'a.2d711642.csv.txt');
  const problems = problemCollector({ stateDir, name: 'a.csv', sha256Of: digestOf('x') });
  const rows = 20_000;
  for (let row = 1; row <= rows; row++) {
    await problems.add({ kind: 'invalid', row, line: row + 1, problems: [{ problem: 'is'.repeat(50) }] });
  }
  const { firstProblems, count, file } = await problems.end();
  expect({ count, file }).toEqual({ count: rows, file: path });
  expect(firstProblems).toHaveLength(20);
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(rows);
  expect(lines.slice(0, 20)).toEqual(firstProblems);
  expect(lines.at(-1)).toBe(`a.csv:${rows + 1}: row ${rows}: ${'is'.repeat(50)}`);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
