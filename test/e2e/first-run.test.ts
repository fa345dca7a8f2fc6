import type { ChildProcess } from 'node:child_process';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { words } from '../examples/command-line.ts';
import { commandsOf } from '../examples/console-blocks.ts';
import { asUsersHaveIt, finished, startAtTerminal } from '../helpers/cqbatch.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const address = '127.0.0.1:8791';

/** No line of the page is wrapped. */
const columns = 160;

/**
 * What the page and a terminal have in common. Run ids are numbered in order of appearance. Durations, the curve of the
 * rate (a run of some seconds has one) and the port of the sandbox are left out, as is what the terminal erases or uses for
 * colors. So is the time of a check.
 */
function comparable(): (text: string) => string {
  const ids: string[] = [];
  return (text) =>
    text
      .replaceAll(/\r+\n/g, '\n')
      .replaceAll(/[^\n]*\p{Cc}\[2K/gu, '')
      .replaceAll(/\p{Cc}\[\d*[A-Za-z]/gu, '')
      .replaceAll(/ after (?:\d+ min(?: \d+ s)?|[\d.]+ m?s)\b/g, '')
      .replaceAll(/checked at (?:\d+ \w+ )?[\d:]+ UTC/g, 'checked')
      .replaceAll(/^ {2}[▁-█]+ {2}up to .*\n/gmu, '')
      .replaceAll(/127\.0\.0\.1:\d+/g, address)
      .replaceAll(/\d{8}-\d{6}-\w{4}/g, (id) => {
        if (!ids.includes(id)) ids.push(id);
        return `run ${ids.indexOf(id) + 1}`;
      });
}

/** Lines as the page shows them; `…` stands for any lines. */
function pattern(shown: string): RegExp {
  const lines = shown
    .split(/(?<=\n)/)
    .map((line) => (line === '…\n' ? '(?:.*\\n)*' : line.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')));
  return new RegExp(`^${lines.join('')}$`);
}

/** Types the answers that the page shows, each after its question. */
function answer(child: ChildProcess, shown: string): void {
  const answers = [...shown.matchAll(/\[y\/N\] (\w)$/gm)].map(([, typed = '']) => typed);
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk;
    if (!printed.includes('[y/N]')) return;
    printed = '';
    child.stdin?.write(`${answers.shift()}\n`);
  });
}

async function started(child: ChildProcess, lastLine: string): Promise<string> {
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += chunk;
    if (printed.includes(lastLine)) break;
  }
  return printed;
}

/** What a sandbox has of what a list shows. */
async function listed(here: string, path: string, body: object): Promise<string> {
  const response = await fetch(`http://${here}/api/v1alpha1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox-token', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  // A call that a fault has refused.
  return response.ok ? response.text() : listed(here, path, body);
}

/** Each byte of all entries, but for the times that the service sets at a change. */
const soundboards = async (here: string): Promise<string> =>
  (await listed(here, 'org/soundboard/list', {})).replaceAll(/"last_modified":"[^"]*"/g, '');

const deletedByMistake = async (here: string): Promise<number> => {
  const page = await listed(here, 'scorecards/scorecards/listevaluations', {
    is_deleted: true,
    page_size: 1_000,
  });
  const { evaluations } = JSON.parse(page) as { evaluations: { deleted_by: string; deleted_at: string }[] };
  const isMistake = (each: (typeof evaluations)[number]): boolean =>
    each.deleted_by === 'u-17' && each.deleted_at >= '2024-12-12T12:00';
  return evaluations.filter(isMistake).length;
};

test.each([
  ['README.md', 3],
  ['docs/first-run.md', 9],
])('each command of %s prints what the page shows, and has its effect', async (page, least) => {
  const cwd = await temporaryFolder();
  const [sandbox, ...commands] = commandsOf(page);
  expect(commands.length).toBeGreaterThanOrEqual(least);
  const [ofPage, ofTerminal] = [comparable(), comparable()];
  const env: Record<string, string> = { ...asUsersHaveIt };

  const { line = '', shown = '' } = sandbox ?? {};
  const server = startAtTerminal([...words(line).slice(1), '--port', '0'], { cwd }, columns);
  const announced = await started(server, 'nothing is kept.\r\n');
  expect(ofTerminal(announced)).toMatch(pattern(ofPage(shown)));
  const [here = ''] = /127\.0\.0\.1:\d+/.exec(announced) ?? [];

  const [entries, deleted] = [await soundboards(here), await deletedByMistake(here)];
  expect(deleted).toBe(412);
  for (const { line, shown } of commands) {
    const [program, ...args] = words(line.replaceAll(address, here));
    if (program === 'export') {
      for (const word of args) env[word.replace(/=.*/, '')] = word.replace(/^\w+=/, '');
    } else if (program === 'cqbatch') {
      const child = startAtTerminal(args, { cwd, env }, columns);
      answer(child, shown);
      expect(ofTerminal((await finished(child)).stdout), line).toMatch(pattern(ofPage(shown)));
    } else {
      await promisify(execFile)('/bin/sh', ['-c', line], { cwd });
    }
  }
  expect(await deletedByMistake(here)).toBe(8);
  expect(await soundboards(here)).toBe(entries);
});
