import { ErrorThrottle, LastingErrors } from '../base/errors/error-throttle.ts';
import { usageError } from '../base/errors/errors.ts';
import { type Log, silentLog } from '../base/log.ts';
import { typedDigits } from '../base/text/format.ts';
import { completeCommands } from '../settings/complete-commands.ts';
import { environment, type Flags } from './config.ts';
import { Interrupted } from './exit-codes.ts';
import { interruptible } from './interrupt.ts';
import {
  askLine,
  holdOutput,
  linesToDraw,
  redrawLines,
  screen,
  writeDocument,
  writeLogLine,
  writeResult,
  writeTalk,
} from './output.ts';
import { logLine } from './render/log-line.ts';

export type Terminal = ReturnType<typeof openTerminal>;

/** Standard output carries data: with `--json` exactly one document, even for failures. Standard error carries messages. */
export function openTerminal(flags: Flags) {
  const { json = false, quiet: silence = 0 } = flags;
  const quiet = silence > 0;
  if (silence > 1) holdOutput();
  const live = screen.isTerminal && !quiet && environment['TERM'] !== 'dumb';
  const completed = (text: string): string => completeCommands(text, flags);
  let drawn: readonly string[] = [];
  const drawLines = (lines: readonly string[]): void => {
    if (!live || drawn.length + lines.length === 0) return;
    const room = screen.rows - 1;
    const all = linesToDraw(lines.map(completed));
    const more = all.length - room + 1;
    const shown = all.length > room ? [...all.slice(0, room - 1), `… and ${more} more`] : all;
    redrawLines(shown, drawn);
    drawn = shown;
  };
  const clear = (): void => drawLines([]);
  const warn = (text: string): void => {
    clear();
    writeTalk(`${completed(text)}\n`);
  };
  return {
    json,
    quiet,
    live,
    /** The width for charts. Undefined leaves charts out. */
    columns: quiet || json ? undefined : screen.resultColumns,
    canAsk: screen.whyMute === undefined,
    whyMute: screen.whyMute,
    result(document: object, text: string): void {
      clear();
      if (json) writeDocument(document);
      else writeResult(`${text}\n`);
    },
    /** Completes the commands in a text. Messages need not call this, unlike results, whose texts may be those of a manifest. */
    completed,
    /** Prints a message, even with `--quiet`. */
    warn,
    say(text: string): void {
      if (!quiet) warn(text);
    },
    /** Replaces the drawn line. An empty text clears it. */
    draw(line: string): void {
      drawLines(line === '' ? [] : [line]);
    },
    /** Replaces the drawn lines. On a low screen, the last lines are left out. */
    drawLines,
    /**
     * Asks a question with the answers yes and no.
     *
     * @param signal withdraws the question, which counts as no
     * @param look shows more when the user types `p`; then the question comes again
     * @throws `Interrupted` on Ctrl-C, SIGTERM and SIGHUP
     */
    async confirm(question: string, signal?: AbortSignal, look?: () => Promise<void>): Promise<boolean> {
      clear();
      const answer = await answerOf(`${question} [y/N] `, signal, look);
      return /^\s*y(es)?\s*$/i.test(answer);
    },
    /**
     * Asks for consent, for commands that take something away, such as `cancel` and `prune`.
     *
     * @throws a usage error `CONSENT_MISSING` without a terminal and `--yes`, `Interrupted` on Ctrl-C, SIGTERM and SIGHUP
     */
    async agrees(question: string, yes = false): Promise<boolean> {
      if (yes || this.canAsk) return yes || this.confirm(question);
      throw usageError(
        'CONSENT_MISSING',
        `Can't ask "${question}", because ${this.whyMute}: pass --yes if you want it.`,
      );
    },
    /** Asks for a number, which may have grouped digits. @throws `Interrupted` on Ctrl-C, SIGTERM and SIGHUP */
    async confirmNumber(question: string, number: number, look?: () => Promise<void>): Promise<boolean> {
      clear();
      for (let text = `${question} Type ${number} to go on: `; ; text = `Type the number ${number}, or n: `) {
        const answer = typedDigits(await answerOf(text, undefined, look));
        if (answer === String(number)) return true;
        if (/^(no?)?$/i.test(answer)) return false;
      }
    },
  };
}

/** Asks a question until the answer is something other than `p`, which shows more. */
async function answerOf(
  question: string,
  signal: AbortSignal | undefined,
  look: (() => Promise<void>) | undefined,
): Promise<string> {
  for (;;) {
    const answer = await askUnlessInterrupted(question, signal);
    if (look === undefined || !/^\s*p\s*$/i.test(answer)) return answer;
    await look();
  }
}

/**
 * Asks a question. A signal ends the question, whatever the signal means to other work.
 *
 * @throws `Interrupted` on Ctrl-C, SIGTERM and SIGHUP
 */
async function askUnlessInterrupted(question: string, signal?: AbortSignal): Promise<string> {
  const interrupt = interruptible(() => {});
  try {
    const ends = [interrupt.signal, ...(signal === undefined ? [] : [signal])];
    const line = await askLine(question, AbortSignal.any(ends));
    if (interrupt.signal.aborted) throw new Interrupted('question');
    return line;
  } finally {
    interrupt.release();
  }
}

/** Warns of each lasting error once. */
export function warningOfLasting(terminal: Pick<Terminal, 'warn'>): (error: Error) => void {
  const lasting = new LastingErrors();
  const throttle = new ErrorThrottle();
  return (error) => {
    lasting.see(error);
    const { text } = lasting;
    if (text !== undefined && throttle.isNews(new Error(text))) terminal.warn(`warning: ${text}`);
  };
}

export function silentTerminal(): Terminal {
  return { ...openTerminal({ quiet: 1 }), canAsk: false, result() {}, warn() {} };
}

/** The log levels, from the least to the most detailed. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'];

export function logLevelIn({ logLevel }: Flags, usual = 'silent'): string {
  const level = logLevel ?? usual;
  if (logLevels.includes(level)) return level;
  throw usageError('INVALID_SETTING', `--log-level "${level}": use one of ${logLevels.join(', ')}.`);
}

/**
 * JSON lines on standard error: events of each row, but no content and no token. With `--verbose`, readable lines about the rate and
 * retries instead.
 *
 * @throws a usage error for an unknown level
 */
export async function openLog(flags: Flags, terminal: Terminal, usual = 'silent'): Promise<Log> {
  const level = logLevelIn(flags, usual);
  if (level === 'silent' && !flags.verbose) return silentLog;
  const { pino } = await import('pino');
  if (level === 'silent') {
    const write = (json: string): void => {
      const line = logLine(JSON.parse(json));
      if (line !== undefined) terminal.say(line);
    };
    const log: Log = pino({ level: 'debug' }, { write });
    return log;
  }
  const log: Log = pino({ level, base: { pid: process.pid } }, { write: writeLogLine });
  return log;
}
