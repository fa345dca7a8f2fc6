import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { typedWords } from '../examples/command-line.ts';
import { shellLinesOf } from '../examples/console-blocks.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { asUsersHaveIt } from '../helpers/cqbatch.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';

/** Commands that ask, so that tests pass `--yes`. */
const asking = ['run', 'submit', 'undo', 'retry', 'prune'];

/** What commands say that find nothing to do here: nothing has failed so, is running, or was stopped, and a plan is run once. */
const idle =
  /^error: (?:Nothing to retry: |Run first is completed, not in progress\.|No run in \.cqbatch can be resumed\.|Run week-47-\w+ already exists)/m;

const sha256 = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');

/** A home with the files that the pages name. */
async function homeOfPages() {
  const env = { ...asUsersHaveIt, ...anyDatastore() };
  const home = await newHome(0, ['--evaluations', '6000', '--not-deleted', '0%'], env);
  const { cwd, folder, write } = home;
  let used = 100;
  const restores = (): string => {
    used += 10;
    return restoreCsv(4, used + 1).text;
  };

  /** Writes each manifest with entries that no run has changed. */
  async function renew(isConflicting = false): Promise<void> {
    for (const name of ['evaluations', 'rows', 'restore', 'large', 'nightly'])
      await write(`${name}.csv`, restores());
    await write('week-47.csv', `${restores()}${isConflicting ? `${used + 1},another user\n` : ''}`);
    await write('titles.csv', `soundboard_id,title\n${1 + (used % 200)},Title ${used}\n`);
    const audit = `action,deleted_by,deleted_at,evaluation_id\ndelete,u-17,2026-11-16T10:00:00Z,${used}\n`;
    for (const name of ['audit.csv', 'audit.xlsx']) await write(name, audit);
    await write('export.xlsx', `ID,user_id\n${used},u\n`);
    await write('export.csv', `Gelöscht\nBewertungs-ID,user_id\n${used},u\n`);
  }

  /** The words of a command, with the names of this home. */
  async function wordsHere(line: string): Promise<readonly string[]> {
    const plan = join(cwd, 'week-47.cqplan');
    const names: readonly (readonly [onPage: RegExp, here: string])[] = [
      [/^\d{8}-\d{6}-jsur$|^jsur$|\bRUN\b/, 'first'],
      [/^1234$/, '1'],
      [/^3f2a…$/, existsSync(plan) ? await sha256(plan) : ''],
      [/^sha256:.*/, `sha256:${await sha256(join(folder('first'), 'report.csv'))}`],
      [/^https:\/\/calls\.example\.com$/, home.sandbox.url],
    ];
    const named = typedWords(line).map((word) =>
      names.reduce((text, [onPage, here]) => text.replace(onPage, here), word),
    );
    const [command = ''] = named;
    const asks = asking.includes(command) && !/ --(?:yes|plan|open)\b/.test(line);
    return [...named, ...(asks ? ['--yes'] : [])];
  }

  return { ...home, renew, wordsHere };
}

/** A folder with a program that opens pages, as a desktop has one. */
async function folderOfOpener(cwd: string): Promise<string> {
  const folder = join(cwd, 'desktop');
  await mkdir(folder);
  await writeFile(join(folder, 'xdg-open'), '#!/bin/sh\n', { mode: 0o755 });
  return folder;
}

test.each([
  ...['guards', 'compare', 'undo', 'budgets', 'history', 'plans', 'errors', 'service', 'manifests', 'report'],
  'rate',
])('each command of docs/%s.md does something when it is typed', async (page) => {
  const { cwd, folder, renew, run, runWith, write, wordsHere } = await homeOfPages();
  await write('first.csv', `${restoreCsv(40, 5_001).text}50,u\n`);
  expect(await run('run', 'first.csv', '--run-id', 'first', '--yes')).toMatchObject({ code: 1 });
  await renew();
  expect(await run('run', 'titles.csv', '--compare', '--yes')).toMatchObject({ code: 0 });
  for (const name of ['evidence', 'from-ann'])
    await cp(folder('first'), join(cwd, name), { recursive: true });
  const PATH = `${await folderOfOpener(cwd)}${delimiter}${process.env['PATH']}`;
  for (const line of shellLinesOf(`docs/${page}.md`)) {
    await renew(line.includes('--on-conflict'));
    // Evaluation 50 can't be recovered, so that no report has a row to correct.
    await cp(join(folder('first'), 'failed.csv'), join(folder('first'), 'correct.csv'));
    const { code, stderr } = await runWith({ PATH }, ...(await wordsHere(line)));
    if (!idle.test(stderr)) expect([0, 1], `${line}\n${stderr}`).toContain(code);
  }
});
