import { expect, test } from 'vitest';
import type { TestSandbox } from '../helpers/sandbox.ts';
import type { Machine } from './redis/machine.ts';

interface Scene {
  readonly home: Machine;
  readonly sandbox: TestSandbox;
  /** What `run` and `undo` need to be told there. */
  readonly flags: readonly string[];
}

export type NewScene = (...sandboxArgs: string[]) => Promise<Scene>;

type Entry = Readonly<Record<string, unknown>>;

/** The soundboard entries as the sandbox has them, but for the time of the last change, which it sets itself. */
export function entries(sandbox: TestSandbox): readonly Entry[] {
  const found: Entry[] = [];
  for (let id = 1; ; id++) {
    const soundboard = sandbox.soundboard(id);
    if (soundboard === undefined) return found;
    const { last_modified: _, ...entry } = soundboard;
    found.push(entry);
  }
}

/** A value as an old one in a manifest. */
export const cell = (value: unknown): string =>
  value === '' ? '<clear>' : `"${String(value).replaceAll('"', '""')}"`;

/** Renames the first entries, with what they were called before. */
function renaming(before: readonly Entry[], rows: number): string {
  const lines = before.slice(0, rows).map((entry, index) => {
    // Some rows leave a field out, or say only a part of what was before.
    const isBrief = index % 3 === 0;
    return [
      ...[entry['soundboard_id'], `"Titel, ""${index}"" ü"`, isBrief ? '' : `text ${index}`, 7 + index],
      ...[cell(entry['title']), isBrief ? '' : cell(entry['description']), cell(entry['file_size'])],
    ].join(',');
  });
  const fields = 'soundboard_id,title,description,file_size';
  return [`${fields},Old title,oldDescription,OLD FILE SIZE`, ...lines, ''].join('\n');
}

/** The effect of `undo` on the changes of a run, whichever process calls the rows. */
export function describeUndo(newScene: NewScene): void {
  test('puts back the former values, even after lost answers', async () => {
    const { home, sandbox, flags } = await newScene('--soundboards', '60', '--fault', '502-after-commit=20%');
    const before = entries(sandbox);
    await home.write('boards.csv', renaming(before, 50));
    const start = ['--yes', '--allow-partial', '--max-failures', 'none', ...flags];
    await home.run('run', 'boards.csv', '--run-id', 'a', '--attempts', '1', ...start);
    const report = await home.report('a');
    const lost = report.filter((row) => row['_outcome'] === 'failed');
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.every((row) => row['_unclear'] === 'yes')).toBe(true);
    expect(entries(sandbox)).not.toEqual(before);

    sandbox.configure({ fault: 'none' });
    const changed = entries(sandbox);
    const preview = await home.run('undo', '--plan');
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringMatching(/^undo of a: 50 rows, /) });
    expect(preview.stdout).toContain('Ready: 50 calls.');
    expect(preview.stderr).toContain('Nothing was sent.');
    expect(entries(sandbox)).toEqual(changed);
    expect(await home.json('show', 'a')).toMatchObject({ undone_by: [] });
    const undone = await home.run('undo', '--yes', '--run-id', 'back', '--reason', 'wrong', ...flags);
    expect(undone.stderr).toContain('Run a of boards.csv: 50 rows get their old values back');
    expect(undone).toMatchObject({ code: 0 });
    expect(entries(sandbox)).toEqual(before);
    // In its report, the rows are called as in the manifest of the run that it undoes.
    expect((await home.report('back')).map((row) => row['_row'])).toEqual(report.map((row) => row['_row']));
    expect(await home.json('show', 'a')).toMatchObject({ undone_by: [{ run: 'back', state: 'completed' }] });
    expect(await home.json('show', 'back')).toMatchObject({ undo_of: 'a', reason: 'wrong' });

    // An undo can be undone, too; without a name, neither is taken again.
    expect(await home.run('undo', '--yes', ...flags)).toMatchObject({ code: 2 });
    expect(await home.run('undo', 'back', '--yes', ...flags)).toMatchObject({ code: 0 });
    const again = entries(sandbox);
    expect(again.slice(0, 50).map(({ title }) => title)).toEqual(report.map(({ title }) => title));
    expect(again.slice(50)).toEqual(before.slice(50));
  });
}
