import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { allRows, openText } from './reading.ts';

const suite = fileURLToPath(new URL('../../fixtures/csv-spectrum', import.meta.url));

/** Has a quote in the middle of an unquoted cell, and its JSON has other values. */
const unreadable = 'location_coordinates';

const names = readdirSync(join(suite, 'csvs')).map((name) => basename(name, '.csv'));
const readable = names.filter((name) => name !== unreadable);

test('the suite is complete, and has its line ends', async () => {
  expect(names).toHaveLength(12);
  for (const name of names) {
    const text = await readFile(join(suite, 'csvs', `${name}.csv`), 'latin1');
    expect([name, text.includes('\r\n')]).toEqual([name, name.endsWith('_crlf')]);
  }
});

test.each(readable)('%s is read as in its JSON', async (name) => {
  const manifest = await openManifest(join(suite, 'csvs', `${name}.csv`));
  const rows = await allRows(manifest);
  expect(rows.filter(({ problem }) => problem !== undefined)).toEqual([]);
  // Empty cells of CSV are left out.
  const cells = rows.map((row) =>
    Object.fromEntries(manifest.columns().map((name) => [name, row.cells[name] ?? ''])),
  );
  expect(cells).toEqual(JSON.parse(await readFile(join(suite, 'json', `${name}.json`), 'utf8')));
});

test(`${unreadable} is refused at its mistake`, async () => {
  const bytes = await readFile(join(suite, 'csvs', `${unreadable}.csv`));
  await expect(openText('a.csv', bytes)).rejects.toMatchObject({
    code: 'MANIFEST_SYNTAX',
    message: expect.stringMatching(/^a\.csv:2:22: quote inside a cell that is not quoted/),
  });
});
