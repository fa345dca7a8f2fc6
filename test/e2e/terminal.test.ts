import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, startAtTerminal } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const green = '\u001b[32m';

/** A manifest of two rows of which one fails, and what runs it at a terminal, answering its question. */
async function prepared(...flags: string[]) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), 'evaluation_id,user_id\n1,u\n50,u\n');
  const sandbox = await startSandbox(...flags);
  const env = { ...sandbox.env, ...anyDatastore() };
  async function runAtTerminal(answer: string, more: Readonly<Record<string, string>> = {}) {
    const child = startAtTerminal(['run', 'rows.csv'], { cwd, env: { ...env, ...more } });
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.includes('[y/N]')) child.stdin?.write(answer);
    });
    return finished(child);
  }
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    cqbatch(args, { cwd, env: { ...env, ...more } });
  return { cwd, sandbox, env, runAtTerminal, run };
}

test('Ctrl-C at the question gives exit code 130; nothing is sent, and no run remains', async () => {
  const { sandbox, runAtTerminal, run } = await prepared();
  const { code, stdout } = await runAtTerminal('\u0003');
  expect(stdout).toContain('Nothing was sent');
  expect(code).toBe(130);
  expect(await sandbox.log()).toEqual([]);
  expect(JSON.parse((await run(['list', '--json'])).stdout)).toEqual({ runs: [] });
});

describe('the question after a canary', () => {
  /** Answers the question whether to begin, then that after the canary. */
  async function prepareCanary() {
    const { cwd, sandbox, env, run } = await prepared();
    const runAtTerminal = (answer: string) => {
      const child = startAtTerminal(['run', 'rows.csv', '--run-id', 'r', '--canary', '1'], { cwd, env });
      child.stdout?.on('data', (chunk: Buffer) => {
        if (chunk.includes('Continue with the other 1 row? [y/N]')) child.stdin?.write(answer);
        else if (chunk.includes('[y/N]')) child.stdin?.write('y\n');
      });
      return finished(child);
    };
    return { sandbox, run, runAtTerminal };
  }

  test.each([
    ['y\n', 1, 2, 'completed'],
    ['n\n', 3, 1, 'halted'],
    ['\u0003', 130, 1, 'interrupted'],
  ])('is answered with %j: exit code %d', async (answer, expected, calls, state) => {
    const { sandbox, run, runAtTerminal } = await prepareCanary();
    const { code, stdout } = await runAtTerminal(answer);
    expect(stdout).toMatch(/^ +1 {2}1 +.*succeeded.* OK/m);
    expect(code).toBe(expected);
    expect(await sandbox.log()).toHaveLength(calls);
    expect(JSON.parse((await run(['status', '--json'])).stdout)).toMatchObject({ state });
    // An unanswered question is asked again; without a terminal, the canary had no failures.
    if (state !== 'completed') expect((await run(['resume'])).code).toBe(1);
    expect(await sandbox.log()).toHaveLength(2);
  });
});

describe('outcomes', () => {
  test('have colors and a bar at a terminal', async () => {
    const { stdout } = await (await prepared()).runAtTerminal('y\n');
    expect(stdout).toContain(`${green}1 succeeded`);
    expect(stdout).toContain(`${green}${'█'.repeat(20)}`);
  });

  test('have no colors with NO_COLOR, but the same line of progress', async () => {
    const { stdout } = await (await prepared()).runAtTerminal('y\n', { NO_COLOR: '1' });
    expect(stdout).toContain('1 succeeded, 1 failed');
    expect(stdout).toMatch(/█{20,}░{20,}/);
    expect(stdout).toContain('\r\u001b[2K');
    expect(stdout).not.toContain('\u001b[3');
  });

  test('have colors elsewhere with FORCE_COLOR only, and in JSON never', async () => {
    const { run } = await prepared();
    expect((await run(['run', 'rows.csv', '--yes'])).stdout).not.toContain('\u001b');
    const forced = await run(['report'], { FORCE_COLOR: '1' });
    expect(forced.stdout).toContain(`${green}1 succeeded`);
    expect(forced.stdout).not.toContain('█');
    const json = await run(['report', '--json'], { FORCE_COLOR: '1' });
    expect(json.stdout).not.toContain('\\u001b');
    expect(json.stdout).not.toContain('\ufdd0');
  });
});
