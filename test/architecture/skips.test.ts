import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Only `describeUnless` skips tests: it says why, and fails where CI is set. */
const skipping = /\b(?:describe|test|it)\.(?:skip|skipIf|runIf|todo|only)\b/;
const allowed = [join('test', 'helpers', 'describe-with-program.ts')];

test('no test is skipped silently', async () => {
  const names = (await readdir('test', { recursive: true })).map((name) => join('test', name));
  const files = names.filter((name) => /\.[jt]s$/.test(name) && !name.includes('fixtures'));
  const found: string[] = [];
  for (const file of files) if (skipping.test(await readFile(file, 'utf8'))) found.push(file);
  expect(found).toEqual(allowed);
});
