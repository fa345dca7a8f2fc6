import { createInterface } from 'node:readline/promises';
import { environment } from './config/environment.ts';
import type { CommonFlags } from './config/load.ts';
import { printable } from './render/printable.ts';

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

const clearLine = '\r\u001b[2K';

export function openTerminal(flags: CommonFlags): Terminal {
  const { stdin, stdout, stderr } = process;
  const json = flags.json ?? false;
  const quiet = flags.quiet ?? false;
  const live = stderr.isTTY === true && !quiet && environment['TERM'] !== 'dumb' && !environment['NO_COLOR'];
  let drawn = false;
  const clear = (): void => {
    if (drawn) stderr.write(clearLine);
    drawn = false;
  };

  return {
    json,
    quiet,
    live,
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    result(document, text) {
      clear();
      stdout.write(json ? `${JSON.stringify(document)}\n` : `${printable(text)}\n`);
    },
    say(text) {
      if (quiet) return;
      clear();
      stderr.write(`${printable(text)}\n`);
    },
    warn(text) {
      clear();
      stderr.write(`${printable(text)}\n`);
    },
    draw(line) {
      if (!live || (line === '' && !drawn)) return;
      stderr.write(clearLine + printable(line).slice(0, (stderr.columns ?? 80) - 1));
      drawn = line !== '';
    },
    async confirm(question) {
      clear();
      const readline = createInterface({ input: stdin, output: stderr });
      // Ctrl-C at the question is a "no", like any other answer but yes.
      const answer = await new Promise<string>((resolve) => {
        readline.once('close', () => resolve(''));
        readline.question(`${question} [y/N] `).then(resolve, () => resolve(''));
      });
      readline.close();
      return /^\s*y(es)?\s*$/i.test(answer);
    },
  };
}
