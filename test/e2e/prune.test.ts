import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, startAtTerminal } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('prune removes all but the newest runs, and --dry-run lists them first', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), 'soundboard_id,title\n1,Hello\n');
  const sandbox = await startSandbox();
  const options = { cwd, env: { ...sandbox.env, ...anyDatastore() } };
  const run = (...args: string[]) => cqbatch(args, options);
  for (const id of ['one', 'two', 'three'])
    expect(await run('run', 'rows.csv', '--yes', '--run-id', id)).toMatchObject({ code: 0 });

  expect(await run('prune')).toMatchObject({ code: 2, stderr: expect.stringContaining('--keep-last 30') });
  const dry = await run('prune', '--keep-last', '1', '--dry-run');
  expect(dry.stdout).toMatch(/^2 runs would be removed \(\d.*B\), 1 kept\n$/);
  expect(dry.stderr).toMatch(/one +completed.*\n.*two +completed/);
  const asked = async (answer: string) => {
    const child = startAtTerminal(['prune', '--keep-last', '2'], options);
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.includes('[y/N]')) child.stdin?.write(`${answer}\n`);
    });
    return finished(child);
  };
  expect(await asked('n')).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/Remove 1 run with all files\? \[y\/N\][\s\S]*Nothing was removed\./),
  });
  expect(await run('status', 'one')).toMatchObject({ code: 0 });
  const done = await run('prune', '--keep-last', '1', '--yes', '--json');
  expect(JSON.parse(done.stdout)).toMatchObject({ removed: ['one', 'two'], kept: 1, dry_run: false });
  // A shared datastore remembers runs for a day.
  const { stdout } = await cqbatch(['list', '--json'], { cwd });
  const { runs } = JSON.parse(stdout) as { runs: { run: string }[] };
  expect(runs.map((one) => one.run)).toEqual(['three']);
});
