import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import { SystemError } from '../base/errors/system-error.ts';
import { escapeInvisible, printable, printableJson } from '../base/text/printable.ts';
import { environment } from './config.ts';
import { Interrupted } from './exit-codes.ts';
import { screenRows, withColors, withLabels, withLinks, withoutMarks, wrappedLine } from './render/style.ts';
import { defaultColumns } from './render/words.ts';

/**
 * Only this file has access to standard output, standard error and the user's answers. Manifests, file names, arguments and API answers
 * are hostile, so characters that a terminal would act on become visible, as `\u001b`; colors are added afterwards.
 * `test/e2e/output.test.ts` fails for other code that writes to either stream.
 *
 * If data (standard output) can't be written, the command fails. Talk (standard error) never ends or delays a run.
 */

export const screen = {
  get isTerminal(): boolean {
    return process.stderr.isTTY === true;
  },
  /** Whether any standard stream is a terminal. */
  get isAttached(): boolean {
    return [0, 1, 2].some((stream) => isatty(stream));
  },
  /** The width of standard output. */
  get resultColumns(): number | undefined {
    return isatty(1) ? columnsOf(1) : undefined;
  },
  /** The width of standard error. */
  get columns(): number {
    return columnsOf(2);
  },
  /** The height of standard error. */
  get rows(): number {
    return process.stderr.rows || defaultRows;
  },
  /** Why no question can be asked. Undefined if one can. Questions appear on standard error, so standard output does not matter. */
  get whyMute(): string | undefined {
    const canRead = process.stdin.isTTY === true;
    if (canRead && this.isTerminal) return undefined;
    if (canRead)
      return 'standard error, where the question would appear, is not a terminal (does 2> or 2>&1 redirect it?)';
    return this.isTerminal
      ? 'standard input, where you would answer, is not a terminal (does < or | redirect it?)'
      : 'standard input and standard error are not terminals';
  },
};

/** Writes a text to standard output, without adding a line feed. @throws a `SystemError` when it can't be written */
export function writeResult(text: string): void {
  writeUnlessHeld(() => writeData(textForPeople(1, text)));
}

/** Writes a JSON document to standard output. @throws a `SystemError` when it can't be written */
export function writeDocument(document: object): void {
  writeUnlessHeld(() => writeData(`${printableJson(JSON.stringify(document))}\n`));
}

/** Writes text for another program, unchanged unless a terminal shows it. @throws a `SystemError` when it can't be written */
export function writeContent(text: string): void {
  writeData(isatty(1) ? printable(text) : text);
}

/** Writes a text to standard error, without adding a line feed. */
export function writeTalk(text: string): void {
  writeUnlessHeld(() => writeFreely(textForPeople(2, text)));
}

export function writeLogLine(json: string): void {
  writeFreely(printableJson(json));
}

/** The output to show later. Undefined while output is shown at once. */
let heldWrites: (() => void)[] | undefined;

/** Holds output until the process ends with an exit code above 0, or asks a question. */
export function holdOutput(): void {
  if (heldWrites === undefined) process.once('exit', (code) => code > 0 && showHeldOutput());
  heldWrites ??= [];
}

function writeUnlessHeld(write: () => void): void {
  if (heldWrites === undefined) write();
  else heldWrites.push(write);
}

function showHeldOutput(): void {
  if (heldWrites === undefined) return;
  const writes = heldWrites;
  heldWrites = [];
  for (const write of writes) {
    try {
      write();
    } catch (error) {
      writeFreely(`error: ${printable((error as Error).message)}\n`);
    }
  }
}

const clearLine = '\r\u001b[2K';

/** The height of a terminal that reports none, or 0. */
const defaultRows = 24;

/** The lines as they stand on the screen: wrapped, with one column left free for the cursor. */
export function linesToDraw(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => wrappedLine(escapeInvisible(line), columnsOf(2) - 1));
}

/**
 * Draws lines in place of others.
 *
 * @param lines of `linesToDraw`
 * @param replaced the last lines on the screen, up to the cursor. Terminals break and join lines when the window is resized.
 */
export function redrawLines(lines: readonly string[], replaced: readonly string[]): void {
  const rows = screenRows(replaced, columnsOf(2));
  const upwards = rows > 1 ? `\u001b[${rows - 1}A\u001b[J` : '';
  writeFreely(clearLine + upwards + coloredText(2, lines.join('\n')));
}

/** A text as a person reads it: without control characters, styled, and wrapped on a screen. */
function textForPeople(stream: 1 | 2, text: string): string {
  const lines = withLabels(printable(text)).split('\n');
  const columns = isatty(stream) ? columnsOf(stream) : Number.POSITIVE_INFINITY;
  return coloredText(stream, lines.flatMap((line) => wrappedLine(line, columns)).join('\n'));
}

function columnsOf(stream: 1 | 2): number {
  return (stream === 1 ? process.stdout : process.stderr).columns || defaultColumns;
}

function coloredText(stream: 1 | 2, text: string): string {
  const linked = isatty(stream) && hasLinks() ? withLinks(text) : text;
  return showsColors(stream) ? withColors(linked) : withoutMarks(linked);
}

/** Whether the terminal is known to show hyperlinks. An unknown one may print their addresses. */
function hasLinks(): boolean {
  const { TERM_PROGRAM = '', TERM = '', VTE_VERSION, WT_SESSION, KONSOLE_VERSION } = environment;
  return (
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio)$/.test(TERM_PROGRAM) ||
    /^(?:xterm-kitty|xterm-ghostty|alacritty|foot)/.test(TERM) ||
    Number(VTE_VERSION ?? 0) >= 5_000 ||
    [WT_SESSION, KONSOLE_VERSION].some((value) => value !== undefined)
  );
}

/** Whether a stream shows colors. `NO_COLOR` takes precedence over `FORCE_COLOR`. */
function showsColors(stream: 1 | 2): boolean {
  const { NO_COLOR, FORCE_COLOR } = environment;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  // Only a terminal may be asked for its colors, because asking opens the stream.
  return isatty(stream) && (stream === 1 ? process.stdout : process.stderr).hasColors();
}

/**
 * Asks a question, and returns the line that the user types: an empty one at the end of the input, or at an abort.
 *
 * @throws `Interrupted` on Ctrl-C
 */
export async function askLine(question: string, signal?: AbortSignal): Promise<string> {
  showHeldOutput();
  const readline = createInterface({
    input: process.stdin,
    output: process.stderr,
    ...(signal !== undefined && { signal }),
  });
  try {
    return await new Promise<string>((resolve, reject) => {
      readline.once('SIGINT', () => reject(new Interrupted('question')));
      readline.once('close', () => resolve(''));
      readline.question(escapeInvisible(question)).then(resolve, reject);
    });
  } finally {
    readline.close();
  }
}

/** Writes to standard output. Waits for a slow reader; drops data after the reader has closed the pipe. */
function writeData(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE' || (code === 'EIO' && isatty(1))) return;
      if (code !== 'EAGAIN') {
        const problem = `standard output can't be written (${code ?? error})`;
        throw new SystemError('OUTPUT_UNWRITABLE', problem, 'make room for it or send it elsewhere', error);
      }
      sleep(pauseMs);
    }
  }
}

const pauseMs = 10;
const slowReaderMs = 1_000;
/** The rest of a text that a slow reader did not take. While there is one, later texts are dropped. */
let unwritten: Buffer = Buffer.alloc(0);

function writeFreely(text: string): void {
  const stalled = unwritten.length > 0;
  if (stalled) unwritten = writeFor(0, unwritten);
  if (unwritten.length === 0) unwritten = writeFor(stalled ? 0 : slowReaderMs, Buffer.from(text));
}

function writeFor(milliseconds: number, bytes: Buffer): Buffer {
  let at = 0;
  for (let waitedMs = 0; at < bytes.length; ) {
    try {
      at += writeSync(2, bytes, at);
      waitedMs = 0;
    } catch (error) {
      // With another error, the disk is full, or the pipe or the terminal is closed: give up.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return Buffer.alloc(0);
      if (waitedMs >= milliseconds) break;
      sleep(pauseMs);
      waitedMs += pauseMs;
    }
  }
  return bytes.subarray(at);
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Keeps the process alive when the terminal closes during a question. Also makes writing to a full pipe fail with `EAGAIN`. */
export function outliveTerminal(): void {
  process.stderr.on('error', () => {});
}
