import { environment, type Flags } from './config/load.ts';
import { askLine, redrawLine, screen, writeDocument, writeResult, writeTalk } from './output.ts';

/**
 * Where a command's words go. Standard output carries data: with `--json` exactly one document, failures included.
 * Standard error carries talk: progress, hints, questions.
 */
export interface Terminal {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether talk goes to a screen on which lines can be redrawn. */
  readonly live: boolean;
  /** Prints the result of a command: the document with `--json`, else the text. */
  result(document: object, text: string): void;
  /** Talks, unless `--quiet`. */
  say(text: string): void;
  /** Says what must not be missed, even with `--quiet`. */
  warn(text: string): void;
  /** Redraws the last line of a live screen, cut to its width; an empty text clears it. */
  draw(line: string): void;
  /** Whether a question can be asked. */
  readonly canAsk: boolean;
  /** Asks a question that only `y` or `yes` affirms. */
  confirm(question: string): Promise<boolean>;
}

export function openTerminal(flags: Pick<Flags, 'json' | 'quiet'>): Terminal {
  const json = flags.json ?? false;
  const quiet = flags.quiet ?? false;
  const live = screen.isTerminal && !quiet && environment['TERM'] !== 'dumb' && !environment['NO_COLOR'];
  let drawn = false;
  const clear = (): void => {
    if (drawn) redrawLine('');
    drawn = false;
  };

  return {
    json,
    quiet,
    live,
    canAsk: screen.canAsk,
    result(document, text) {
      clear();
      if (json) writeDocument(document);
      else writeResult(`${text}\n`);
    },
    say(text) {
      if (quiet) return;
      clear();
      writeTalk(`${text}\n`);
    },
    warn(text) {
      clear();
      writeTalk(`${text}\n`);
    },
    draw(line) {
      if (!live || (line === '' && !drawn)) return;
      redrawLine(line);
      drawn = line !== '';
    },
    async confirm(question) {
      clear();
      return /^\s*y(es)?\s*$/i.test(await askLine(`${question} [y/N] `));
    },
  };
}
