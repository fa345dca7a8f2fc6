import { createInterface } from 'node:readline/promises';
import { escapeInvisible, printable, printableJson } from '../printable.ts';

/**
 * The only way to standard output, standard error and the user's answers. Manifests, file names, arguments and API
 * answers are hostile, so nothing goes out here that a terminal would act on: it is made visible, as `\u001b`.
 * `test/cli/output.test.ts` fails for code elsewhere that writes to either stream.
 */

/** What is known of standard error, where talk goes. */
export const screen = {
  /** Whether somebody sees it as it is written. */
  get isTerminal(): boolean {
    return process.stderr.isTTY === true;
  },
  /** Whether somebody can answer. */
  get canAsk(): boolean {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  },
};

/** Data for people on standard output; the text has its line feeds. */
export function writeResult(text: string): void {
  process.stdout.write(printable(text));
}

/** Data for machines on standard output: one JSON document. */
export function writeDocument(document: object): void {
  process.stdout.write(`${printableJson(JSON.stringify(document))}\n`);
}

/** Talk on standard error; the text has its line feeds. */
export function writeTalk(text: string): void {
  process.stderr.write(printable(text));
}

/** One line of the structured log on standard error: JSON, with its line feed. */
export function writeLogLine(json: string): void {
  process.stderr.write(printableJson(json));
}

const clearLine = '\r\u001b[2K';

/** Where a terminal doesn't say how wide it is, or says 0. */
const usualColumns = 80;

/** Replaces the line of the screen on which the cursor is, cut to the screen's width. */
export function redrawLine(line: string): void {
  process.stderr.write(
    clearLine + escapeInvisible(line).slice(0, (process.stderr.columns || usualColumns) - 1),
  );
}

/** Asks on standard error for a line. Ctrl-C and the end of the input are an empty one. */
export async function askLine(question: string): Promise<string> {
  const readline = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    readline.once('close', () => resolve(''));
    readline.question(escapeInvisible(question)).then(resolve, () => resolve(''));
  });
  readline.close();
  return answer;
}

/** Whoever reads may have gone (`cqbatch list | head`, a closed terminal): that ends no run. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
}
