import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { checkDocuments } from '../json-documents/check.ts';
import { canRunHere, type Finished, runHere } from './command-here.ts';

export type { Finished };

const main = fileURLToPath(new URL('../../dist/bin/cqbatch.js', import.meta.url));
/**
 * Most runs of tests are too short to gain from what costs CPU time at first: optimized code of PostgreSQL would take half of the
 * time, optimized JavaScript a tenth, more threads that collect garbage a twentieth.
 */
const node = [process.execPath, '--liftoff-only', '--no-opt', '--single-threaded-gc'];
export const command = [...node, main];

/**
 * Guards that most tests are not about, and that their manifests, with failing rows and rows of one field, would trigger. Every
 * command of a test has these settings, unless the test says otherwise; tests about the defaults use `asUsersHaveIt`.
 */
const unguarded = { CQBATCH_MAX_FAILURES: 'none', CQBATCH_ALLOW_PARTIAL: 'yes' };

/** Every setting as users have it by default. */
export const asUsersHaveIt = { CQBATCH_MAX_FAILURES: '', CQBATCH_ALLOW_PARTIAL: '' };

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
  /** A shell command in which `"$@"` is the command: `umask 0; exec "$@"`. */
  readonly shell?: string;
  /** Another build of the program: the path of its `cqbatch.js`. */
  readonly program?: string | undefined;
}

/** Starts the built `cqbatch` as users do. It ends with the test at the latest. */
export function startCqbatch(
  args: readonly string[],
  { cwd, env = {}, input, shell, program: file = main }: CommandOptions,
): ChildProcess {
  // No setting of the machine that runs the tests may reach the command, and nothing of the command the user's cache.
  const { PATH = '', HOME = '' } = process.env;
  const cache = env['XDG_CACHE_HOME'] === undefined ? { NODE_DISABLE_COMPILE_CACHE: '1' } : {};
  const words = [...node, file, ...args];
  const [program = '', ...rest] = shell === undefined ? words : ['/bin/sh', '-c', shell, 'sh', ...words];
  const child = spawn(program, rest, {
    cwd,
    env: { PATH, HOME, ...cache, ...unguarded, ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Starts the built `cqbatch` at a terminal. */
export function startAtTerminal(
  args: readonly string[],
  options: CommandOptions,
  columns?: number,
): ChildProcess {
  const line = [...command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return startShell(columns === undefined ? line : `stty cols ${columns}; exec ${line}`, options);
}

/**
 * Starts a shell with a command line at a terminal, by `script` of util-linux: everything that the terminal gets is its
 * standard output.
 */
export function startShell(line: string, { cwd, env = {} }: CommandOptions): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd,
    env: { PATH, HOME, SHELL: '/bin/sh', TERM: 'xterm', ...unguarded, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The arguments of a started command; none of another program, as a shell, which prints lines of its own. */
export function argsOf({ spawnargs }: ChildProcess): readonly string[] {
  const isCommand = command.every((word, index) => spawnargs[index] === word);
  return isCommand ? spawnargs.slice(command.length) : [];
}

/** Waits for the end of a started command. Checks the documents that it has printed. */
export async function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  checkDocuments(argsOf(child), stdout);
  return { code, stdout, stderr };
}

/** Runs the built `cqbatch` to its end, in its own process. */
export function cqbatchProcess(args: readonly string[], options: CommandOptions): Promise<Finished> {
  return finished(startCqbatch(args, options));
}

/** Runs the built `cqbatch` at a terminal to its end, and answers each question as soon as it is asked. */
export function cqbatchAtTerminal(
  args: readonly string[],
  options: CommandOptions,
  ...answers: readonly (readonly [question: string, answer: string])[]
): Promise<Finished> {
  const child = startAtTerminal(args, options);
  child.stdout?.on('data', (chunk: Buffer) => {
    const [, answer] = answers.find(([question]) => chunk.includes(question)) ?? [];
    if (answer !== undefined) child.stdin?.write(answer);
  });
  return finished(child);
}

/** The variables that the command itself reads; Node or the system may read the others when a process starts. */
const isOwnVariable = (name: string): boolean => /^CQBATCH_|^NO_COLOR$|^FORCE_COLOR$|_PROXY$/i.test(name);

/**
 * Runs the built `cqbatch` to its end. It runs in the process of the tests, which costs a fraction, unless the command needs
 * its own process: for its standard input, a shell, the environment of Node, or beside another command.
 */
export function cqbatch(args: readonly string[], options: CommandOptions): Promise<Finished> {
  const { cwd, env = {}, input, shell, program } = options;
  const needsProcess =
    [input, shell, program].some((each) => each !== undefined) || !Object.keys(env).every(isOwnVariable);
  if (needsProcess || !canRunHere(args)) return cqbatchProcess(args, options);
  const { PATH = '', HOME = '' } = process.env;
  return runHere(args, { cwd, env: { PATH, HOME, ...unguarded, ...env } });
}

/** Waits until a process has written a text to standard error. */
export async function saying(child: ChildProcess, text: string): Promise<void> {
  let said = '';
  for await (const [chunk] of on(child, text)) {
    said += chunk;
    if (said.includes(text)) return;
  }
}

async function* on(child: ChildProcess, text: string): AsyncIterable<[unknown]> {
  const { stderr } = child;
  if (stderr === null) throw new Error('standard error is not piped');
  for (;;) {
    const ended = once(child, 'close').then(() => {
      throw new Error(`The process ended without saying ${JSON.stringify(text)}.`);
    });
    yield (await Promise.race([once(stderr, 'data'), ended])) as [unknown];
  }
}
