import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Cells, readCsv } from '../helpers/run-folder.ts';
import { shapes, type TestSandbox } from '../helpers/sandbox.ts';
import { type Home, newHome } from './home.ts';

/** Some rows are done although no usable answer comes, others are not. */
const faults = 'reset=20%,502-after-commit=20%';
const starting = ['--yes', '--attempts', '1', '--max-failures', 'none', '--allow-partial', '--run-id', 'one'];

interface CheckDocument {
  readonly as_wanted: number;
  readonly not_as_wanted: number;
  readonly gone: number;
  readonly overtaken: number;
  readonly as_reported: boolean;
  readonly unclear: { readonly rows: number; readonly done: number; readonly not_done: number };
  readonly next: readonly string[];
}

const checkCsv = (home: Home): Promise<readonly Cells[]> => readCsv(home.folder('one'), 'check.csv');

/** What another client does, without the program. */
async function rename(sandbox: TestSandbox, id: number, title: string): Promise<void> {
  const answer = await fetch(`${sandbox.url}/api/v1alpha1/org/soundboard/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ soundboard: { soundboard_id: id, title } }),
  });
  expect(answer.status).toBe(200);
}

const renaming = (rows: number): string =>
  ['soundboard_id,title', ...Array.from({ length: rows }, (_, at) => `${at + 1},New ${at + 1}`), ''].join(
    '\n',
  );

describe.each(shapes)('at a service in the shape %s', (shape) => {
  test('unclear updates are answered, and what another client changed or removed is told', async () => {
    const home = await newHome(renaming(40), ['--shape', shape, '--soundboards', '40', '--fault', faults]);
    const { sandbox, run, json, folder } = home;
    await run('run', 'rows.csv', ...starting);
    sandbox.configure({ fault: 'none' });
    const report = await home.report('one');
    const unclear = report.filter((row) => row['_unclear'] === 'yes');
    const isDone = (row: Cells): boolean =>
      sandbox.soundboard(Number(row['soundboard_id']))?.title === row['title'];
    const done = unclear.filter(isDone);
    expect(done.length).toBeGreaterThan(0);
    expect(unclear.length).toBeGreaterThan(done.length);
    const [other] = report.filter((row) => row['_outcome'] === 'succeeded');
    await rename(sandbox, Number(other?.['soundboard_id']), 'Other');
    const before = await textsOf(folder('one'));

    const { code, stdout } = await run('check');
    expect(code).toBe(1);
    const open = unclear.length - done.length;
    expect(stdout).toContain(
      `${done.length} of ${unclear.length} unclear rows ${done.length === 1 ? 'was' : 'were'} done, ${open} ${open === 1 ? 'was' : 'were'} not: cqbatch retry one --unclear calls `,
    );
    expect(stdout).toContain(
      `row ${other?.['_row']}, soundboard ${other?.['soundboard_id']}: title is "Other"`,
    );
    const checked = await checkCsv(home);
    expect(checked).toHaveLength(40);
    for (const row of report) {
      const found = checked.find((each) => each['_row'] === row['_row']);
      const isOther = row['_row'] === other?.['_row'];
      expect(found).toMatchObject({
        _identifier: row['soundboard_id'],
        _outcome: row['_outcome'],
        _unclear: row['_unclear'],
        _check: isOther || !isDone(row) ? 'not_as_wanted' : 'as_wanted',
      });
    }

    const after = await textsOf(folder('one'));
    expect({ ...after, html: '' }).toEqual({ ...before, html: '' });
    expect(withoutCheck(after.html)).toBe(before.html);
    expect(after.html).toContain('title is \\"Other\\"');
    await run('check');
    expect(withoutCheck((await textsOf(folder('one'))).html)).toBe(before.html);
    const number = other?.['_row'] ?? '';
    expect((await run('show', 'one', '--row', number)).stdout).toMatch(
      /Checked at .*: not as wanted \(title is "Other"\)/,
    );

    const calls = (await sandbox.log()).length;
    expect(await run('retry', 'one', '--unclear', '--yes', '--run-id', 'two')).toMatchObject({ code: 0 });
    expect((await sandbox.log()).length - calls).toBe(open);
    const last = await json<CheckDocument>('check', 'one');
    expect(last).toMatchObject({ not_as_wanted: 1, gone: 0, as_reported: false, next: [] });
  });

  test('restored evaluations are told from deleted and missing ones', async () => {
    const flags = ['--shape', shape, '--evaluations', '60', '--unrecoverable', '0%', '--not-deleted', '0%'];
    const home = await newHome(30, [...flags, '--fault', faults]);
    const { sandbox, run, json } = home;
    await run('run', 'rows.csv', ...starting);
    sandbox.configure({ fault: 'none' });
    const report = await home.report('one');
    const isDone = (row: Cells): boolean =>
      sandbox.evaluation(Number(row['evaluation_id']))?.deleted_at === undefined;
    const unclear = report.filter((row) => row['_unclear'] === 'yes');
    const done = unclear.filter(isDone);
    expect(done.length).toBeGreaterThan(0);
    const document = await json<CheckDocument>('check');
    expect(document).toMatchObject({
      as_wanted: report.filter(isDone).length,
      not_as_wanted: unclear.length - done.length,
      gone: 0,
      unclear: { rows: unclear.length, done: done.length, not_done: unclear.length - done.length },
    });
    const checked = await checkCsv(home);
    expect(checked.find((row) => row['_check'] === 'not_as_wanted')).toMatchObject({
      _there: 'is still among the deleted evaluations',
    });
    await run('retry', 'one', '--unclear', '--yes');
    expect(await run('check', 'one')).toMatchObject({ code: 0 });
  });
});

/** The files of a report that a check leaves alone, and the page. */
async function textsOf(folder: string) {
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  const [report, summary, html] = await Promise.all(['report.csv', 'summary.json', 'report.html'].map(read));
  return { report, summary, html: html ?? '' };
}

/** The page without its part about the check, and without that in its data. */
function withoutCheck(html: string): string {
  return html
    .replace(/<section aria-label="Check">.*?<\/section>/s, '')
    .replace(/,"check":\{.*?\]\}(?=\},"portions")/s, '');
}
