import { environment, type Flags } from './config/load.ts';
import { askLine, redrawLine, screen, writeDocument, writeResult, writeTalk } from './output.ts';

/** Where a command's words go. */
export type Terminal = ReturnType<typeof openTerminal>;

/**
 * Standard output carries data: with `--json` exactly one document, failures included. Standard error carries talk:
 * progress, hints, questions.
 */
export function openTerminal({ json = false, quiet = false }: Pick<Flags, 'json' | 'quiet'>) {
  /** Whether talk goes to a screen on which lines can be redrawn. */
  const live = screen.isTerminal && !quiet && environment['TERM'] !== 'dumb' && !environment['NO_COLOR'];
  let drawn = false;
  const clear = (): void => {
    if (drawn) redrawLine('');
    drawn = false;
  };
  const warn = (text: string): void => {
    clear();
    writeTalk(`${text}\n`);
  };
  return {
    json,
    quiet,
    live,
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
      if (!live || (line === '' && !drawn)) return;
      redrawLine(line);
      drawn = line !== '';
    },
    /** Asks a question that only `y` or `yes` affirms. */
    async confirm(question: string): Promise<boolean> {
      clear();
      return /^\s*y(es)?\s*$/i.test(await askLine(`${question} [y/N] `));
    },
  };
}
