import { escapeInvisible } from './printable.ts';

/**
 * The words of a command that no shell runs, the program first. Splits a text like a POSIX shell, at quotes and backslashes; expands
 * nothing.
 *
 * @throws RangeError with the correct form. It does not quote the command, whose arguments may be secret.
 */
export function commandWords(command: string | readonly string[]): readonly string[] {
  const words = typeof command === 'string' ? split(command) : command;
  const [program = ''] = words;
  if (program === '') throw new RangeError('write a program and its arguments');
  if (words.some((word) => word.includes('\0'))) throw new RangeError('it must not contain a NUL character');
  if (/^\w+=/.test(program))
    throw new RangeError('begin with the program; to set a variable, write env NAME=value PROGRAM');
  return words;
}

/** The last alternative is what remains of a text without its end. */
const wordPart =
  /(?<blank>[ \t\r\n]+)|(?<operator>[|&;<>()])|'(?<literal>[^']*)'|"(?<quoted>(?:[^"\\]|\\[\s\S])*)"|\\(?<escaped>[\s\S])|(?<plain>[^ \t\r\n|&;<>()'"\\]+)|(?<open>[\s\S])/g;

function split(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const { groups = {} } of text.matchAll(wordPart)) {
    const { blank, operator, literal, quoted, escaped, plain, open } = groups;
    if (open !== undefined)
      throw new RangeError(open === '\\' ? 'it ends with a backslash' : `a quote (${open}) is not closed`);
    if (operator !== undefined)
      throw new RangeError(`no shell runs it: put ${operator} in quotes, or write sh -c '…'`);
    if (blank !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (escaped !== '\n') {
      word = `${word ?? ''}${literal ?? escaped ?? plain ?? unescaped(quoted)}`;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** In double quotes, a backslash escapes only these characters, and joins lines. */
function unescaped(quoted = ''): string {
  return quoted.replace(/\\([$`"\\\n])/g, (_, character: string) => (character === '\n' ? '' : character));
}

/** In double quotes, which every shell knows, or, if the text contains characters with a meaning inside them, in single quotes. */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./~-]+$/.test(text)) return text;
  return /["$`\\!%]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}

/** Words as a line to type in a shell. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).map(escapeInvisible).join(' ');
}
