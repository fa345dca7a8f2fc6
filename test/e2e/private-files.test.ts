import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { cqbatchProcess, finished, saying, startCqbatch } from '../helpers/cqbatch.ts';
import { describeOnPosix } from '../helpers/describe-with-program.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';

/** What others may do with what is in a folder: `rights path` of each entry that they may do anything with. */
async function openToOthers(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const status = await lstat(path).catch(() => undefined);
    const rights = (status?.mode ?? 0) & 0o777;
    const expected = status?.isDirectory() ? 0o700 : 0o600;
    if (status !== undefined && rights !== expected)
      found.push(`${rights.toString(8)} ${relative(folder, path)}`);
  }
  return found;
}

describeOnPosix('the content of the state folder', () => {
  test('is private to its owner, whatever the umask and the creator of the folder', async () => {
    const { stateDir, ...home } = await newHome(`${restoreCsv(40).text}x,u\n`, ['--evaluations', '100'], {});
    await mkdir(stateDir);
    await chmod(stateDir, 0o755);
    const options = { ...home.options, shell: 'umask 000; exec "$@"' };
    const args = ['run', 'rows.csv', '--yes', '--skip-invalid', '--rate', '20/s'];
    const child = startCqbatch([...args, '--run-id', 'first'], options);
    const end = finished(child);
    await saying(child, 'Run first');
    expect(await openToOthers(stateDir)).toEqual([]);
    expect(await end).toMatchObject({ code: 1, stderr: expect.not.stringContaining('warning') });
    expect(await readdir(stateDir)).toEqual(expect.arrayContaining(['problems', 'queue', 'runs']));
    expect(await openToOthers(stateDir)).toEqual([]);
    const written = [...(await readdir(stateDir)), ...(await readdir(join(stateDir, 'runs', 'first')))];
    const page = await readFile('docs/architecture.md', 'utf8');
    const [, tree = ''] = /^## Files of a run\n\n```\n(.*?)^```/ms.exec(page) ?? [];
    const documented = tree.split(/[\s,/]+/);
    expect(written.filter((name) => !documented.includes(name))).toEqual([]);

    // As an earlier version, or somebody's hand, may have left it.
    execFileSync('chmod', ['-R', 'a+rwX', stateDir]);
    const { code, stderr } = await cqbatchProcess(['run', 'rows.csv', '--yes', '--skip-invalid'], options);
    expect(code).toBe(1);
    expect(await openToOthers(stateDir)).toEqual([]);
    expect(stderr).toContain('warning: other users can write to the state folder .cqbatch');
    // The folder itself is the user's to open or close.
    expect((await lstat(stateDir)).mode & 0o777).toBe(0o777);
  });
});

describeOnPosix('a configuration that other users may change', () => {
  test('sends no token anywhere until the state folder is named', async () => {
    const cwd = await temporaryFolder();
    const sandbox = await startSandbox();
    const { CQBATCH_BASE_URL: base_url, ...env } = sandbox.env;
    const config = join(cwd, '.cqbatch', 'config.json');
    await mkdir(join(cwd, '.cqbatch'), { mode: 0o700 });
    await writeFile(config, JSON.stringify({ base_url }), { mode: 0o600 });
    await writeFile(join(cwd, 'rows.csv'), restoreCsv(2).text);
    const from = 'from base_url in .cqbatch/config.json';
    expect(await cqbatchProcess(['plan', 'rows.csv'], { cwd, env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(from),
    });
    await chmod(config, 0o666);
    expect(await cqbatchProcess(['run', 'rows.csv', '--yes'], { cwd, env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('.cqbatch/config.json may be changed by other users'),
    });
    expect(await sandbox.log()).toEqual([]);
    expect(
      await cqbatchProcess(['run', 'rows.csv', '--yes', '--state-dir', '.cqbatch'], { cwd, env }),
    ).toMatchObject({ code: 0 });
  });
});
