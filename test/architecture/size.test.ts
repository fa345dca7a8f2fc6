import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mostLinesOf } from './most-lines.ts';

/** A room that became smaller by more than this lowers its number. */
const slack = 30;

const isCode = /\.(ts|js|css|html|lua)$/;

async function linesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && isCode.test(entry.name));
  const texts = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
  );
  return texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
}

const rooms = (await readdir('src', { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `src/${name}`);

test('every room of the source, the jobs and the tests have a number', () => {
  expect(Object.keys(mostLinesOf).toSorted()).toEqual(['jobs', ...rooms.toSorted(), 'test']);
});

test.each(Object.entries(mostLinesOf))('%s has at most %i lines, and not many fewer', async (room, most) => {
  const lines = await linesOf(room);
  expect(lines, `${room} has grown: say in test/architecture/most-lines.ts what for`).toBeLessThanOrEqual(
    most,
  );
  expect(most - lines, `${room} has ${lines} lines: lower its number`).toBeLessThanOrEqual(slack);
});
