import { CommanderError } from 'commander';
import { readVersion } from '../base/package.ts';
import { escapeInvisible } from '../base/text/printable.ts';
import { exitCodeOfError, exitCodes, Interrupted, knownError } from './exit-codes.ts';
import { outliveHangup } from './interrupt.ts';
import { outliveTerminal, writeDocument, writeTalk } from './output.ts';
import { createProgram } from './program.ts';

/** How long open handles may keep the process after its command has ended. */
const lingerMs = 2_000;

/** Runs the process's command. */
export async function runProcess(): Promise<void> {
  const args = process.argv.slice(2);
  outliveTerminal();
  outliveHangup();

  // Manifests and answers of the API are private. This also covers the files of PGlite.
  process.umask(0o077);

  // Node itself would print the error unescaped and exit with 1, which means failed rows.
  process.on('uncaughtException', (error) => process.exit(explain(error, args)));

  await runCommand(args);
  // Everything is done and printed; an unreachable datastore must not keep the process.
  setTimeout(() => process.exit(), lingerMs).unref();
}

/** Runs a command to its end, and sets the exit code of the process. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(readVersion(), args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = explain(error, args);
  }
}

/** Prints why a command failed, as one JSON document with `--json`. @returns the exit code */
function explain(error: unknown, args: readonly string[]): number {
  const json = args.includes('--json');
  if (error instanceof CommanderError) {
    // Help and version are already printed, and so are usage errors, on standard error.
    if (error.exitCode === 0) return exitCodes.success;
    if (json) printJson('USAGE', error.message.replace(/^error: /, ''));
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
    // Standard error shows the error, too.
  }
}
