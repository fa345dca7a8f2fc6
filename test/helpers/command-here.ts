import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';
import { checkDocuments } from '../json-documents/check.ts';
import { built } from './built.ts';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether a command is running here: two commands can't share what they use of the process. */
let isBusy = false;

/** Whether a command can run here now. The output that `-qq` suppresses is written at the end of a process. */
export function canRunHere(args: readonly string[]): boolean {
  return !isBusy && !args.some((arg) => /^-q+$/.test(arg));
}

/**
 * Runs a command as its process would, in the process of the tests, where its modules are loaded only once. Meanwhile the
 * current folder, environment, umask, exit code, standard output and standard error of this process are those of the command.
 */
export async function runHere(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<Finished> {
  isBusy = true;
  const ended = run(args, cwd, env).finally(() => {
    isBusy = false;
  });
  // The next test begins after that.
  onTestFinished(() => ended.then(() => {}));
  return ended;
}

async function run(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Finished> {
  const { runCommand } = await built<typeof import('../../src/cli/command-line.ts')>('cli/command-line');
  const written: { [fd: number]: string } = { 1: '', 2: '' };
  const before = { cwd: process.cwd(), env: { ...process.env }, exitCode: process.exitCode };
  const umask = process.umask(0o077);
  const { writeSync } = fs;
  process.chdir(cwd);
  setEnvironment(env);
  process.exitCode = undefined;
  setWriteSync(((fd: number, bytes: Buffer, ...rest: []) => {
    if (!(fd in written)) return writeSync(fd, bytes, ...rest);
    written[fd] += bytes.toString();
    return bytes.length;
  }) as typeof writeSync);
  try {
    await runCommand(args);
    checkDocuments(args, written[1] ?? '');
    return { code: Number(process.exitCode ?? 0), stdout: written[1] ?? '', stderr: written[2] ?? '' };
  } finally {
    setWriteSync(writeSync);
    process.exitCode = before.exitCode;
    setEnvironment(before.env);
    process.chdir(before.cwd);
    process.umask(umask);
  }
}

/** Only `src/cli/output.ts` writes to the streams of a process, and always with this function. */
function setWriteSync(writeSync: typeof fs.writeSync): void {
  fs.writeSync = writeSync;
  syncBuiltinESMExports();
}

function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}
