import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { mostLinesOf } from './most-lines.ts';

const mostFiles = 20;
const mostLines = 300;
/** A room that became smaller by more than this lowers its number. */
const slack = 30;

const isCode = /\.(ts|js|css|html|lua)$/;

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

async function linesOf(file: string): Promise<number> {
  return (await readFile(file, 'utf8')).split('\n').length - 1;
}

const files = (await Promise.all(['src', 'jobs'].map(filesBelow))).flat();
/** The doors of the source, and the rooms of the engine. */
const rooms = (await Promise.all(['src', 'src/engine'].map(roomsIn)))
  .flat()
  .filter((room) => room !== 'src/engine');

async function roomsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${folder}/${name}`);
}

test(`no room has more than ${mostFiles} files side by side`, () => {
  const crowded = [...new Set(files.map(dirname))].filter(
    (room) => files.filter((file) => dirname(file) === room).length > mostFiles,
  );
  expect(crowded).toEqual([]);
});

test(`no file is longer than ${mostLines} lines`, async () => {
  const lines = await Promise.all(files.map(async (file) => [file, await linesOf(file)] as const));
  expect(lines.filter(([, count]) => count > mostLines)).toEqual([]);
});

test('every room of the source, the jobs and the tests have a number of lines', () => {
  expect(Object.keys(mostLinesOf).toSorted()).toEqual(['jobs', ...rooms.toSorted(), 'test']);
});

test.each(Object.entries(mostLinesOf))('%s has at most %i lines, and not many fewer', async (room, most) => {
  const code = (await filesBelow(room)).filter((file) => isCode.test(file));
  const lines = (await Promise.all(code.map(linesOf))).reduce((sum, count) => sum + count, 0);
  expect(lines, `${room} has grown: say in test/architecture/most-lines.ts what for`).toBeLessThanOrEqual(
    most,
  );
  expect(most - lines, `${room} has ${lines} lines: lower its number`).toBeLessThanOrEqual(slack);
});
