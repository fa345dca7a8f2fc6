import { CommanderError } from 'commander';
import { readVersion } from '../package.ts';
import { escapeInvisible } from '../text/printable.ts';
import { exitCodeOfError, exitCodes, Interrupted, knownError } from './exit-codes.ts';
import { outliveTerminal, writeDocument, writeTalk } from './output.ts';
import { createProgram } from './program.ts';
import { withAdvice } from './usage-advice.ts';

/** Time for what is still open after the end of a command to end by itself. */
const lingerMs = 2_000;

/** Runs the command that the process was started with, and nothing else until the process ends. */
export async function runProcess(): Promise<void> {
  const args = process.argv.slice(2);
  outliveTerminal();

  // Manifests and answers of the API are private. This also covers the files of PGlite.
  process.umask(0o077);

  // Node itself would print it as it is, and end with 1, which means that rows have failed.
  process.on('uncaughtException', (error) => process.exit(explain(error, args)));

  await runCommand(args);
  // All is done and said; what still waits for a datastore that is unreachable must not keep the process.
  setTimeout(() => process.exit(), lingerMs).unref();
}

/** Runs a command to its end. Its exit code is that of the process then. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(readVersion(), args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = explain(error, args);
  }
}

/** Prints what ended the command, as one JSON document with `--json`, and gives the exit code. */
function explain(error: unknown, args: readonly string[]): number {
  const json = args.includes('--json');
  if (error instanceof CommanderError) {
    // Help and version have been printed; usage errors too, on standard error.
    if (error.exitCode === 0) return exitCodes.success;
    if (json) printJson('USAGE', withAdvice(error.message).replace(/^error: /, ''));
    return exitCodes.usage;
  }
  if (error instanceof Interrupted) {
    if (json) writeDocument({ state: 'interrupted' });
    writeTalk(`${error.at === 'question' ? '\n' : ''}Nothing was sent or changed.\n`);
    return exitCodeOfError(error);
  }
  const known = knownError(error);
  const message = known?.message ?? `Unexpected error: ${(error as Error).stack ?? String(error)}`;
  if (json) printJson(known?.code ?? 'UNEXPECTED', message);
  writeTalk(`error: ${known === undefined ? message : escapeInvisible(message)}\n`);
  return exitCodeOfError(error);
}

function printJson(code: string, message: string): void {
  try {
    writeDocument({ error: { code, message } });
  } catch {
    // Standard error says it, too.
  }
}
