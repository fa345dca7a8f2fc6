import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import { SystemError } from '../system-error.ts';
import { escapeInvisible, printable, printableJson } from '../text/printable.ts';
import { environment } from './config/load.ts';
import { Interrupted } from './exit-codes.ts';
import { cutTo, painted, plain } from './render/style.ts';
import { usualColumns } from './render/words.ts';

/**
 * The only way to standard output, standard error and the user's answers. Manifests, file names, arguments and API
 * answers are hostile, so nothing goes out here that a terminal would act on: it is made visible, as `\u001b`. Colours are
 * put in afterwards, and only those of `render/style.ts`.
 * `test/e2e/output.test.ts` fails for code elsewhere that writes to either stream.
 *
 * Data (standard output) is written, or the command fails. Talk (standard error) never ends or holds up a run.
 */

/** What is known of those who read. */
export const screen = {
  /** Whether somebody sees what goes to standard error as it is written. */
  get isTerminal(): boolean {
    return process.stderr.isTTY === true;
  },
  /** How wide the terminal is that standard output goes to, if it is one. */
  get resultColumns(): number | undefined {
    return isatty(1) ? process.stdout.columns || usualColumns : undefined;
  },
  /** How many lines the terminal has on which things are redrawn. */
  get rows(): number {
    return process.stderr.rows || usualRows;
  },
  /** Whether somebody can answer. */
  get canAsk(): boolean {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  },
};

/** Text for people on standard output, with its line feeds. @throws a `SystemError` when it can't be written. */
export function writeResult(text: string): void {
  unlessHeld(() => writeData(coloured(1, printable(text))));
}

/** Data for machines on standard output: one JSON document. @throws a `SystemError` when it can't be written. */
export function writeDocument(document: object): void {
  unlessHeld(() => writeData(`${printableJson(JSON.stringify(document))}\n`));
}

/** Talk on standard error; the text has its line feeds. */
export function writeTalk(text: string): void {
  unlessHeld(() => writeFreely(coloured(2, printable(text))));
}

/** One line of the structured log on standard error: JSON, with its line feed. */
export function writeLogLine(json: string): void {
  writeFreely(printableJson(json));
}

/** What waits for the exit code; undefined while nothing has to. */
let held: (() => void)[] | undefined;

/** Shows what is written from now on only if the process ends with an exit code above 0, or somebody is asked. */
export function holdOutput(): void {
  if (held === undefined) process.once('exit', (code) => code > 0 && showHeld());
  held ??= [];
}

function unlessHeld(write: () => void): void {
  if (held === undefined) write();
  else held.push(write);
}

function showHeld(): void {
  if (held === undefined) return;
  const writes = held;
  held = [];
  for (const write of writes) {
    try {
      write();
    } catch (error) {
      writeFreely(`error: ${printable((error as Error).message)}\n`);
    }
  }
}

/** To the beginning of the line. */
const clearLine = '\r\u001b[2K';

/** Where a terminal doesn't say how high it is, or says 0. */
const usualRows = 24;

/**
 * Replaces the lines of the screen that end with the one on which the cursor is; each is cut to the screen's width, and
 * those that do not fit on it are left out.
 *
 * @param before how many lines there are to be replaced
 */
export function redrawLines(lines: readonly string[], before: number): void {
  const columns = process.stderr.columns || usualColumns;
  const upwards = before > 1 ? `\u001b[${before - 1}A\u001b[J` : '';
  const text = lines.map((line) => cutTo(columns - 1, escapeInvisible(line))).join('\n');
  writeFreely(clearLine + upwards + coloured(2, text));
}

function coloured(stream: 1 | 2, text: string): string {
  return showsColours(stream) ? painted(text) : plain(text);
}

/** Whether a stream is a terminal that has colours; `NO_COLOR` and `FORCE_COLOR` are obeyed, in this order. */
function showsColours(stream: 1 | 2): boolean {
  const { NO_COLOR, FORCE_COLOR } = environment;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  // Of a stream that is no terminal nothing is asked: that would open it.
  return isatty(stream) && (stream === 1 ? process.stdout : process.stderr).hasColors();
}

/**
 * Asks on standard error for a line. The end of the input is an empty one, and so is that of a question that the signal
 * takes back.
 *
 * @throws `Interrupted` on Ctrl-C.
 */
export async function askLine(question: string, signal?: AbortSignal): Promise<string> {
  showHeld();
  const readline = createInterface({
    input: process.stdin,
    output: process.stderr,
    ...(signal !== undefined && { signal }),
  });
  try {
    return await new Promise<string>((resolve, reject) => {
      readline.once('SIGINT', () => reject(new Interrupted('question')));
      readline.once('close', () => resolve(''));
      readline.question(escapeInvisible(question)).then(resolve, () => resolve(''));
    });
  } finally {
    readline.close();
  }
}

/** Data reaches its reader, however slow that is, or the command fails; a reader who has gone wants no more of it. */
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
/** A reader who takes nothing for so long holds up nobody any longer. */
const patienceMs = 1_000;
/** What such a reader has not taken yet of the text at which it stopped; what is said meanwhile is dropped. */
let rest: Buffer = Buffer.alloc(0);

function writeFreely(text: string): void {
  const stalled = rest.length > 0;
  if (stalled) rest = writeFor(0, rest);
  if (rest.length === 0) rest = writeFor(stalled ? 0 : patienceMs, Buffer.from(text));
}

/** @returns what could not be written in that time, and may be later. */
function writeFor(milliseconds: number, bytes: Buffer): Buffer {
  let at = 0;
  for (let waitedMs = 0; at < bytes.length; ) {
    try {
      at += writeSync(2, bytes, at);
      waitedMs = 0;
    } catch (error) {
      // Else: a full disk, a reader who has gone, a terminal that was closed.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return Buffer.alloc(0);
      if (waitedMs >= milliseconds) break;
      sleep(pauseMs);
      waitedMs += pauseMs;
    }
  }
  return bytes.subarray(at);
}

/** Blocks, as writing to a pipe that is full does. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Whoever closes the terminal at a question, which Node writes, ends nothing by that. It also makes pipes say `EAGAIN`. */
export function outliveTerminal(): void {
  process.stderr.on('error', () => {});
}
