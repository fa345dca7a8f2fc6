import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/command-line.ts';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, cqbatchProcess, finished, startAtTerminal, startCqbatch } from '../helpers/cqbatch.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** An escape sequence, a C1 one, BEL, DEL, a right-to-left override, a line separator, a zero-width blank. */
const hostile = 'x\u001b[2J\u009b31m\u0007\u007f\u202e\u2028\u200b';

/** All that a terminal would act on, but for line feeds. */
const harmful = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const streams =
  /\b(?:stdout|stderr)\b.*\bprocess\b|\bprocess\b.*\b(?:stdout|stderr)\b|\bconsole\s*\.|\bfd:\s*[12]\b|writeSync\(\s*[12]\b|\/dev\/(?:std|tty|fd)|node:(?:tty|console|readline)|_rawDebug/s;

test('only one file writes to standard output and standard error, so that control characters are always escaped', async () => {
  const writers: string[] = [];
  for (const folder of ['src', 'jobs']) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
      const path = join(entry.parentPath, entry.name);
      const statements = (await readFile(path, 'utf8')).split(/;\n/);
      if (statements.some((statement) => streams.test(statement))) writers.push(path);
    }
  }
  // Two have a sentence of their own, where nothing else can be loaded.
  expect(writers.toSorted()).toEqual([
    'src/build/executable/main.ts',
    'src/cli/main.ts',
    'src/cli/output.ts',
  ]);
});

/** What clears a line, and the lines above it; colors, the terminal's own line ends, and the line editor's moves at the question. */
const ownSequences = [
  '\r\u001b[2K',
  /\p{Cc}\[\d+A\p{Cc}\[J/u,
  /\p{Cc}\[(?:[1-3]?\d)m/u,
  '\r\r\n',
  '\r\n',
  '\u001b[1G',
  '\u001b[0J',
  /\p{Cc}\[\d+G/u,
];

/** A folder with a manifest of a hostile name and content, and an API that answers with hostile text. */
async function hostilePlace() {
  const cwd = await temporaryFolder();
  const name = `${hostile}.jsonl`;
  const rows = [
    { soundboard_id: 1, title: hostile },
    { soundboard_id: 2, title: `${hostile}\nrow 9: all is well`, [hostile]: hostile },
  ];
  await writeFile(join(cwd, name), rows.map((row) => JSON.stringify(row)).join('\n'));
  await writeFile(join(cwd, `bad${name}`), `{"soundboard_id":"${hostile.slice(3)}"}`.replace(/\p{Cc}/gu, ''));
  const api = await httpServer((response, { body }) => {
    if (body.includes('"soundboard_id":1,')) response.end('{"soundboard_id":1}');
    else response.writeHead(400).end(JSON.stringify({ code: hostile, message: hostile }));
  });
  const env = { CQBATCH_BASE_URL: api.url, CQBATCH_TOKEN: 'token', ...anyDatastore() };
  return { cwd, name, env, run: (...args: string[]) => cqbatch(args, { cwd, env }) };
}

/** Commands with all that they require, the groups left out. */
function commandLines(program: Command): readonly (readonly string[])[] {
  const help = program.createHelp();
  return help
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => {
      const below = commandLines(command);
      if (below.length > 0) return below.map((words) => [command.name(), ...words]);
      const words = command.registeredArguments
        .filter(({ required }) => required)
        .map(({ argChoices }) => argChoices?.[0] ?? 'x');
      const port = command.options.some(({ long }) => long === '--port') ? ['--port', '0'] : [];
      return [[command.name(), ...words, ...port]];
    });
}

test('with --json, every command prints exactly one document, also when it fails', async () => {
  const cwd = await temporaryFolder();
  const lines = commandLines(await createProgram('0', ['sandbox']));
  expect(lines.length).toBeGreaterThan(25);
  const ends = lines.map(async (words): Promise<readonly [command: string, document: string]> => {
    const child = startCqbatch([...words, '--json'], { cwd });
    // Those that serve until they are stopped have said by then where.
    child.stdout?.once('data', () => child.kill('SIGTERM'));
    const { stdout } = await finished(child);
    return [words.join(' '), JSON.stringify(JSON.parse(stdout))];
  });
  for (const [command, document] of await Promise.all(ends))
    expect(document, command).toMatch(/^\{(?!.*unknown option)/);
});

describe('no control character is printed', () => {
  test('by commands that work on hostile manifests and answers, as text and as JSON', async () => {
    const { name, run } = await hostilePlace();
    const outputs = [
      await run('plan', name),
      await run('plan', name, '--json'),
      await run('plan', `bad${name}`),
      await run('run', name, '--yes', '--log-level', 'debug'),
      await run('list', '--json'),
      await run('list'),
      await run('status'),
      await run('report', '--json'),
    ];
    for (const { stdout, stderr } of outputs) {
      expect(stdout).not.toMatch(harmful);
      expect(stderr).not.toMatch(harmful);
    }
    const [plan, planJson, bad, finishedRun, list] = outputs.map(({ stdout }) => stdout);
    expect(plan).toContain('x\\u001b[2J\\u009b31m\\u0007\\u007f\\u202e\\u2028\\u200b.jsonl: 2 rows');
    expect(JSON.parse(planJson ?? '')).toMatchObject({ manifest: name });
    expect(bad).toContain(':1: row 1, soundboard_id: ');
    expect(finishedRun).toContain('1 failed');
    expect(JSON.parse(list ?? '')).toMatchObject({ runs: [{ manifest: name, failed: 1 }] });
    expect(outputs[3]?.stderr).toContain('"msg":"row finished"');
  });

  test('by commands that refuse their arguments', async () => {
    const { cwd, name, run } = await hostilePlace();
    await writeFile(join(cwd, 'config.json'), JSON.stringify({ [hostile]: 1 }));
    const refused = [
      [hostile],
      [`--${hostile}`],
      ['plan', `${hostile}\nsuccess: all rows`],
      ['list', '--json', `--${hostile}`],
      ['plan', '--json', hostile],
      ['run', name, '--yes', '--rate', hostile],
      ['run', name, '--yes', '--queue', `redis://${hostile}`],
      ['status', hostile],
      ['list', '--state-dir', '.', '--json'],
      ['report', '--state-dir', `${hostile}\nerror: none`],
      ['sandbox', '--fault', hostile],
    ];
    for (const args of refused) {
      const { code, stdout, stderr } = await run(...args);
      expect(stdout + stderr, JSON.stringify(args)).not.toMatch(harmful);
      expect(stdout + stderr, JSON.stringify(args)).not.toMatch(/^(?:success|error: none)/m);
      expect(code, JSON.stringify(args) + stderr).toBe(2);
    }
  });

  test('by a defect of the program, which is exit code 4', async () => {
    const { cwd } = await hostilePlace();
    const throwing = `process.on('newListener', (name) => {
      if (name === 'SIGTERM') setImmediate(() => { throw new Error(${JSON.stringify(hostile)}); });
    })`;
    const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(throwing)}` };
    const { code, stderr } = await cqbatchProcess(['sandbox', '--port', '0'], { cwd, env });
    expect(code).toBe(4);
    expect(stderr).toContain('error: Unexpected error: Error: x\\u001b[2J');
    expect(stderr).not.toMatch(harmful);
  });

  test('to a real terminal, except to clear the line of progress', async () => {
    const { cwd, name, env } = await hostilePlace();
    const child = startAtTerminal(['run', name], { cwd, env });
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.includes('[y/N]')) child.stdin?.write('y\n');
    });
    const { stdout } = await finished(child);
    expect(stdout).toContain('Send 2 requests to http://127.0.0.1');
    expect(stripVTControlCharacters(stdout)).toContain('1 succeeded, 1 failed');
    // What is said after a question is seen, too.
    expect(stripVTControlCharacters(stdout)).toMatch(/^Files in \S+: .*report\.csv/m);
    expect(stdout).toContain('\r\u001b[2K');
    let texts = [stdout];
    for (const own of ownSequences) texts = texts.flatMap((text) => text.split(own));
    for (const text of texts) expect(JSON.stringify(text.match(harmful))).toBe('null');
  });
});
