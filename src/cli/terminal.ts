import { environment, type Flags } from './config/load.ts';
import { askLine, holdOutput, redrawLines, screen, writeDocument, writeResult, writeTalk } from './output.ts';

/** Where a command's words go. */
export type Terminal = ReturnType<typeof openTerminal>;

/**
 * Standard output carries data: with `--json` exactly one document, failures included. Standard error carries talk:
 * progress, hints, questions.
 */
export function openTerminal({ json = false, quiet: silence = 0 }: Pick<Flags, 'json' | 'quiet'>) {
  const quiet = silence > 0;
  if (silence > 1) holdOutput();
  /** Whether talk goes to a screen on which lines can be redrawn. */
  const live = screen.isTerminal && !quiet && environment['TERM'] !== 'dumb';
  /** How many lines are on the screen that will be redrawn. */
  let drawn = 0;
  const drawLines = (lines: readonly string[]): void => {
    if (!live || drawn + lines.length === 0) return;
    const room = screen.rows - 1;
    const shown =
      lines.length > room ? [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more`] : lines;
    redrawLines(shown, drawn);
    drawn = shown.length;
  };
  const clear = (): void => drawLines([]);
  const warn = (text: string): void => {
    clear();
    writeTalk(`${text}\n`);
  };
  return {
    json,
    quiet,
    live,
    /** How wide the screen is on which a result is shown, if it is one; pictures are for screens only. */
    columns: quiet || json ? undefined : screen.resultColumns,
    /** Whether a question can be asked. */
    canAsk: screen.canAsk,
    /** Prints the result of a command: the document with `--json`, else the text. */
    result(document: object, text: string): void {
      clear();
      if (json) writeDocument(document);
      else writeResult(`${text}\n`);
    },
    /** Says what must not be missed, even with `--quiet`. */
    warn,
    /** Talks, unless `--quiet`. */
    say(text: string): void {
      if (!quiet) warn(text);
    },
    /** Redraws the last line of a live screen, cut to its width; an empty text clears it. */
    draw(line: string): void {
      drawLines(line === '' ? [] : [line]);
    },
    /** Redraws the last lines of a live screen, as many as fit on it. */
    drawLines,
    /**
     * Asks a question that only `y` or `yes` affirms.
     *
     * @param signal takes the question back: it is not affirmed
     * @throws `Interrupted` on Ctrl-C.
     */
    async confirm(question: string, signal?: AbortSignal): Promise<boolean> {
      clear();
      return /^\s*y(es)?\s*$/i.test(await askLine(`${question} [y/N] `, signal));
    },
    /**
     * Asks whether to do something, unless the user said yes before, or can't be asked, as under cron.
     *
     * @throws `Interrupted` on Ctrl-C.
     */
    async agrees(question: string, yes = false): Promise<boolean> {
      return yes || !this.canAsk || this.confirm(question);
    },
    /**
     * Asks a question that only this number affirms, however its digits are grouped.
     *
     * @throws `Interrupted` on Ctrl-C.
     */
    async confirmNumber(question: string, number: number): Promise<boolean> {
      clear();
      const answer = await askLine(`${question} Type ${number} to go on: `);
      return answer.replaceAll(/[\s,.'’_]/g, '') === String(number);
    },
  };
}

/** The terminal of a command that has no reader: nothing is said, and nothing can be asked. */
export function silentTerminal(): Terminal {
  return { ...openTerminal({ quiet: 1 }), canAsk: false, result() {}, warn() {} };
}
