import { expect, test } from 'vitest';
import { stateOfProcess, thisProcess } from '../../../../src/base/disk/process.ts';
import { runProgram } from '../../../../src/engine/api/token/run-program.ts';
import { describeOnPosix } from '../../../helpers/describe-with-program.ts';

const minute = 60_000;
const script = (text: string, ...args: string[]) => [process.execPath, '-e', text, ...args];

test('gives what a command printed, and its arguments as they are', async () => {
  const words = script('console.log(process.argv[1]); console.error("by the way")', '$HOME | *');
  expect(await runProgram(words, minute)).toEqual({ out: '$HOME | *\n', errors: 'by the way\n' });
});

test('has no standard input', async () => {
  const words = script('process.stdin.on("data", () => {}).on("end", () => console.log("end"))');
  expect(await runProgram(words, minute)).toMatchObject({ out: 'end\n', problem: undefined });
});

test.each<[what: string, problem: string, words: readonly string[], limitMs?: number]>([
  ['a program that is missing', 'is not found', ['no-such-program-of-cqbatch']],
  ['another exit code', 'failed with exit code 7', script('process.exitCode = 7')],
  [
    'a program that takes too long',
    'took longer than 0.1 s and was stopped',
    script('setInterval(() => {}, 1e3)'),
    100,
  ],
])('says what is wrong: %s', async (_, problem, words, limitMs = minute) => {
  expect(await runProgram(words, limitMs)).toMatchObject({ problem });
});

describeOnPosix('a command', () => {
  test('takes what it started with it when it is stopped', async () => {
    const flood = 'for (;;) console.log("x".repeat(1e5))';
    const inner = `['-e', 'setInterval(() => {}, 1e3)'], { stdio: 'inherit' }`;
    const outer = `const { pid } = require('node:child_process').spawn(process.execPath, ${inner}); console.log(pid)`;
    const { out, problem } = await runProgram(script(`${outer}; ${flood}`), minute);
    expect(problem).toBe('printed more than 64 KiB');
    const pid = Number.parseInt(out, 10);
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => stateOfProcess({ ...thisProcess(), pid, started: '' })).toBe('dead');
  });

  test('that has ended is refused, too, when what it left behind prints too much', async () => {
    // Unlike console.log in a loop, this ends with its reader.
    const flood = 'const flood = (error) => error || process.stdout.write("x".repeat(1e5), flood)';
    const inner = `${flood}; const wait = () => process.ppid === \${process.pid} ? setImmediate(wait) : flood(); wait()`;
    const options = `{ stdio: 'inherit', detached: true }`;
    const outer = `require('node:child_process').spawn(process.execPath, ['-e', \`${inner}\`], ${options}).unref()`;
    expect((await runProgram(script(outer), minute)).problem).toBe('printed more than 64 KiB');
  });
});
