import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codesOfRowsAndErrors, errorCodes } from '../../../src/base/errors/error-codes.ts';
import { rowCodes } from '../../../src/domain/codes.ts';
import { warningCodes } from '../../../src/domain/warning-codes.ts';
import type { Setting } from '../../../src/settings/setting.ts';
import { settings } from '../../../src/settings/setting-table.ts';
import { nameInWords } from '../../../src/settings/settings.ts';
import { everyCommand } from '../../cli/help.ts';

/** The program without its tables of codes. */
const sources = ['src', 'jobs']
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))))
  .filter((path) => path.endsWith('.ts') && !/code(?:s|-table)\.ts$/.test(path))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');

const commands = await everyCommand();

const tables = [...Object.values<object>(errorCodes), warningCodes];

// That each thrown code is in the tables, the compiler says.
test('each code of the tables is made somewhere', () => {
  const codes = [...tables.flatMap(Object.keys), ...codesOfRowsAndErrors];
  expect(codes.length).toBeGreaterThan(150);
  expect(codes.filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
});

test('no code of an error has two lines', () => {
  const codes = [...Object.values<object>(errorCodes).flatMap(Object.keys), ...rowCodes];
  const twice = codes.filter((code, index) => codes.indexOf(code) !== index);
  expect(twice).toEqual([]);
});

test('what to do about codes of rows that end a command, their own table says', () => {
  expect(codesOfRowsAndErrors.filter((code) => !rowCodes.includes(code))).toEqual([]);
});

test('what to do names options that exist, and words that they take', () => {
  const texts = tables.flatMap((codes) => Object.values(codes).map((texts) => texts.join(' ')));
  const named = texts.flatMap((text) => [...text.matchAll(/--([a-z0-9-]+)(?: ([a-z-]+))?/g)]);
  expect(named.length).toBeGreaterThan(40);
  const known = [...commands.values()].flatMap(({ options }) => options.map(({ long }) => long));
  expect(named.map(([, name]) => `--${name}`).filter((name) => !known.includes(name))).toEqual([]);
  const wordsOf = (name = ''): readonly string[] | undefined =>
    Object.entries<Setting>(settings).find(([each]) => nameInWords(each, '-') === name)?.[1].words;
  const wrong = named.filter(([, name, word = '']) => wordsOf(name)?.includes(word) === false);
  expect(wrong.map(([text]) => text)).toEqual([]);
});
