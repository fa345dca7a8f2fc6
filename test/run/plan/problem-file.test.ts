import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { problemCollector } from '../../../src/run/plan/problem-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

test('any number of problems goes into the file, the first ones to the screen, and memory does not grow', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  const stateDir = await temporaryFolder();
  const path = join(stateDir, 'problems', 'a.csv.txt');
  const problems = problemCollector(stateDir, 'a.csv');
  const rows = 20_000;
  for (let row = 1; row <= rows; row++) {
    await problems.add({ kind: 'invalid', row, line: row + 1, problems: [{ problem: 'is'.repeat(50) }] });
  }
  const { first, count, file } = await problems.end();
  expect({ count, file }).toEqual({ count: rows, file: path });
  expect(first).toHaveLength(20);
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(rows);
  expect(lines.slice(0, 20)).toEqual(first);
  expect(lines.at(-1)).toBe(`a.csv:${rows + 1}: ${'is'.repeat(50)}`);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
