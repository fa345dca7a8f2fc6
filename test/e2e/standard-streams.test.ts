import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cqbatchProcess, startCqbatch } from '../helpers/cqbatch.ts';
import { describeWithFullDevice } from '../helpers/describe-with-program.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';

const rows = 30;
const success = 0;
const fatal = 4;
const unwritable = "error: standard output can't be written (ENOSPC)";

async function newPlace(count = rows) {
  const { cwd, env } = await newHome(count, ['--evaluations', '5000']);
  return { cwd, env };
}

const talkative = ['--rate', 'none', '--log-level', 'debug'];

describeWithFullDevice('a run whose messages cannot be written', () => {
  test.each([
    ['talk on a full disk', 'exec "$@" 2> /dev/full', success, /"state":"completed"/, /^$/],
    ['neither stream', 'exec "$@" >&- 2>&-', success, /^$/, /^$/],
    [
      'output that no process reads any more',
      '{ "$@"; echo "code $?"; } 2>&1 >&3 | true',
      success,
      /completed/,
      /^$/,
    ],
    [
      'data on a full disk',
      'exec "$@" > /dev/full',
      fatal,
      /^$/,
      /is completed; its report is \S+report\.csv$/m,
    ],
  ])('is completed with its report: %s', async (_title, shell, code, stdout, stderr) => {
    const place = await newPlace();
    const args = ['run', 'rows.csv', '--yes', '--json', '--run-id', 'r', ...talkative];
    const end = await cqbatchProcess(args, { ...place, shell: `exec 3>&1; ${shell}` });
    expect(end).toEqual({
      code,
      stdout: expect.stringMatching(stdout),
      stderr: expect.stringMatching(stderr),
    });
    if (code === fatal) expect(end.stderr).toContain(`${unwritable}: make room for it`);
    expectEveryRowOnce(await readCsv(join(place.cwd, '.cqbatch', 'runs', 'r'), 'report.csv'), rows);
  });

  test('is not held up by a reader that reads nothing', async () => {
    const count = 800;
    const place = await newPlace(count);
    const child = startCqbatch(['run', 'rows.csv', '--yes', '--run-id', 'r', ...talkative], place);
    child.stdout?.resume();
    // No process reads its standard error: the pipe has room for 64 KB of 160 KB.
    expect(await once(child, 'exit')).toEqual([1, null]);
    expectEveryRowOnce(await readCsv(join(place.cwd, '.cqbatch', 'runs', 'r'), 'report.csv'), count);
  });
});

describeWithFullDevice('a command whose result cannot be written', () => {
  test.each([
    ['--help', 'exec "$@" > /dev/full', fatal],
    ['sandbox --port 0', 'exec "$@" > /dev/full', fatal],
    ['plan rows.csv', 'exec "$@" 2> /dev/full', success],
  ])('%s with %s ends with code %d', async (command, shell, code) => {
    const { cwd } = await newPlace();
    const end = await cqbatchProcess(command.split(' '), { cwd, shell });
    expect({ code: end.code, stderr: end.stderr }).toEqual({
      code,
      stderr: code === fatal ? expect.stringContaining(unwritable) : '',
    });
  });

  test('is quiet when its reader has gone', async () => {
    const { cwd } = await newPlace();
    const shell = '{ "$@"; echo "code $?" >&2; } | true';
    expect(await cqbatchProcess(['run', '--help'], { cwd, shell })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'code 0\n',
    });
  });
});
