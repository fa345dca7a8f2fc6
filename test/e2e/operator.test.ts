import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { words } from '../examples/command-line.ts';
import { newHome } from './home.ts';
import { eventuallyTold } from './redis/machine.ts';

/** The commands of the page that start with `cqbatch`, in order. */
async function typedCommands(): Promise<readonly (readonly string[])[]> {
  const page = await readFile('docs/operator.md', 'utf8');
  const lines = [...page.matchAll(/^cqbatch (.*?)(?: +#.*)?$/gm)].map(([, line = '']) => words(line));
  return lines.filter(([name]) => name !== 'doctor');
}

/** Commands of the page whose exit code is not 0. */
const otherCodes: Readonly<Record<string, number>> = { 'status alarm --watch': 1 };

test("the commands of an operator's day do what the page says", async () => {
  const home = await newHome(3, ['--unrecoverable', '0%', '--not-deleted', '0%'], {});
  const folder = join(home.cwd, 'srv');
  await mkdir(folder);
  await home.write('srv/nightly.csv', await readFile(join(home.cwd, 'rows.csv'), 'utf8'));
  await home.write('alarm.csv', 'evaluation_id,user_id\n999999999,alarm\n');
  const daemon = await home.worker('--coordinate');
  // As the page shows it behind curl.
  const ready = { active: 0, status: 'ok', healthy: true, ready: true };
  expect(await daemon.health('/readyz')).toEqual({ status: 200, body: ready });
  expect(await readFile('docs/operator.md', 'utf8')).toContain(JSON.stringify(ready));

  const commands = await typedCommands();
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) {
    const line = command.join(' ');
    const args = command.map((word) => word.replace('/srv/cqbatch', folder));
    expect([line, (await home.run(...args)).code]).toEqual([line, otherCodes[line] ?? 0]);
    // The daemon starts the run within a second or two.
    if (line === 'schedule trigger nightly')
      await eventuallyTold(async () => (await home.json<{ runs: object[] }>('list')).runs.length === 1);
  }
  expect(await home.json('schedule', 'history', 'nightly')).toMatchObject({
    history: [{ runs: [{ state: 'completed', outcomes: { succeeded: 3 } }] }],
  });
  await daemon.stop();
});
