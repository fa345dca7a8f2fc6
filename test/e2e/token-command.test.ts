import { writeFileSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cqbatchProcess, finished, startCqbatch } from '../helpers/cqbatch.ts';
import { describeOnPosix } from '../helpers/describe-with-program.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';
import { kindSandbox, textsBelow } from './redis/machine.ts';

/** The tokens that the command of a place prints, one after the other. */
const tokenOf = (run: number): string => `token-${run}-that-must-never-be-seen`;

/** A folder with a manifest and a command that prints the next token. */
async function newPlace(rows: number, ...sandboxArgs: string[]) {
  const sandbox = await startSandbox('--token', tokenOf(1), ...kindSandbox, ...sandboxArgs);
  const cwd = await temporaryFolder();
  const runs = join(cwd, 'runs.txt');
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  await writeFile(runs, '');
  await writeFile(
    join(cwd, 'token.cjs'),
    `const { appendFileSync, readFileSync } = require('node:fs');
     appendFileSync(process.argv[2], '.');
     console.log('token-' + readFileSync(process.argv[2]).length + '-that-must-never-be-seen');`,
  );
  const words = [process.execPath, join(cwd, 'token.cjs'), runs];
  const options = { cwd, env: { CQBATCH_BASE_URL: sandbox.url } };
  return {
    sandbox,
    cwd,
    words,
    options,
    /** How often the command has run. */
    runs: async () => (await readFile(runs)).length,
    configure: async (config: object) => {
      await mkdir(join(cwd, '.cqbatch'), { mode: 0o700 });
      await writeFile(join(cwd, '.cqbatch', 'config.json'), JSON.stringify(config), { mode: 0o600 });
    },
    cqbatch: (...args: string[]) => cqbatchProcess(args, options),
    report: (id: string) => readCsv(join(cwd, '.cqbatch', 'runs', id), 'report.csv'),
  };
}

test('tokens that end in the middle of a run are renewed, once for each, and every row succeeds', async () => {
  const { sandbox, cwd, words, options, runs, report } = await newPlace(400, '--latency', '5ms..20ms');
  const flags = ['--rate', 'none', '--concurrency', '20', '--log-level', 'debug', '--save-responses'];
  const command = words.map((word) => `'${word}'`).join(' ');
  const run = startCqbatch(
    ['run', 'rows.csv', '--yes', '--run-id', 'r', '--token-command', command, ...flags],
    options,
  );
  const end = finished(run);
  await sandbox.requested(60);
  sandbox.configure({ token: tokenOf(2) });
  await sandbox.requested(250);
  sandbox.configure({ token: tokenOf(3) });
  const { code, stdout, stderr } = await end;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const rows = await report('r');
  expectEveryRowOnce(rows, 400);
  expect(rows.filter((row) => row['_outcome'] !== 'succeeded' || row['_unclear'] !== '')).toEqual([]);
  const refused = (await sandbox.log()).filter((entry) => entry.code === 'UNAUTHENTICATED');
  // At the most, each call in flight was refused at each end.
  expect(refused.length).toBeGreaterThanOrEqual(2);
  expect(refused.length).toBeLessThanOrEqual(2 * 20);
  expect(await runs()).toBe(3);
  for (const text of [stdout, stderr, await textsBelow(join(cwd, '.cqbatch'))])
    expect(text).not.toContain('must-never-be-seen');
});

test('a command that fails in the middle of a run stops it, and the run can be resumed', async () => {
  const { sandbox, cwd, words, options, cqbatch, report } = await newPlace(300, '--latency', '5ms..20ms');
  const command = words.map((word) => `'${word}'`).join(' ');
  const run = startCqbatch(
    ['run', 'rows.csv', '--yes', '--run-id', 'r', '--rate', 'none', '--token-command', command],
    options,
  );
  const end = finished(run);
  await sandbox.requested(60);
  // In one turn of the event loop, in which the sandbox answers no call: the run may not end before the new token is needed.
  writeFileSync(join(cwd, 'token.cjs'), 'console.error("log in again"); process.exit(1)');
  sandbox.configure({ token: tokenOf(2) });
  const { code, stderr } = await end;
  expect({ code, stderr }).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/failed with exit code 1\. It wrote \d+ characters to standard error/),
  });
  await writeFile(join(cwd, 'token.cjs'), `console.log('${tokenOf(2)}')`);
  expect(await cqbatch('resume', '--token-command', command)).toMatchObject({ code: 0 });
  const rows = await report('r');
  expect(rows.filter((row) => row['_outcome'] !== 'succeeded' || row['_unclear'] !== '')).toEqual([]);
});

test('a command in config.json is run for what calls the API, and not for a plan', async () => {
  const { sandbox, words, configure, cqbatch, runs } = await newPlace(3);
  await configure({ token_command: words });
  expect(await cqbatch('plan', 'rows.csv')).toMatchObject({ code: 0 });
  expect(await runs()).toBe(0);
  expect(await cqbatch('doctor')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ok +token +is accepted/),
  });
  expect(await runs()).toBe(1);
  sandbox.configure({ token: tokenOf(2) });
  expect(await cqbatch('run', 'rows.csv', '--yes', '--max-rows', '1')).toMatchObject({ code: 6 });
  sandbox.configure({ token: tokenOf(3) });
  expect(await cqbatch('resume')).toMatchObject({ code: 0 });
  expect(await runs()).toBe(3);
});

describeOnPosix('a command in a configuration that other users may change', () => {
  test('is not run', async () => {
    const { words, configure, cqbatch, cwd, runs } = await newPlace(3);
    await configure({ token_command: words });
    await chmod(join(cwd, '.cqbatch', 'config.json'), 0o666);
    for (const command of [['run', 'rows.csv', '--yes'], ['doctor'], ['worker', '--coordinate']]) {
      const { code, stdout, stderr } = await cqbatch(...command);
      expect(code).toBe(2);
      expect(stdout + stderr).toMatch(
        /config\.json may be changed by other users, and the folder decides .* which programs run\./,
      );
    }
    expect(await runs()).toBe(0);
  });
});
