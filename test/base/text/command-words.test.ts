import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandWords, shellWord } from '../../../src/base/text/command-words.ts';
import { describeOnPosix } from '../../helpers/describe-with-program.ts';

describe('the words of a command', () => {
  test.each<[string, readonly string[]]>([
    ['  a\t b \n c ', ['a', 'b', 'c']],
    [`a 'b c' "d e"f'g h'`, ['a', 'b c', 'd efg h']],
    [String.raw`a "\$b \"c\" \\ \d" '\$'`, ['a', String.raw`$b "c" \ \d`, String.raw`\$`]],
    ['a b\\\nc "d\\\ne"', ['a', 'bc', 'de']],
    ['a $HOME *.txt ~ `b` #c', ['a', '$HOME', '*.txt', '~', '`b`', '#c']],
  ])('%j', (text, words) => expect(commandWords(text)).toEqual(words));

  test.each([
    ['nothing', '', 'write a program'],
    ['no program', '"" secret', 'write a program'],
    ['a backslash at the end', 'a secret\\', 'it ends with a backslash'],
    ['a pipe', 'a secret | b', "no shell runs it: put | in quotes, or write sh -c '…'"],
    ['a variable', 'TOKEN=secret a', 'write env NAME=value PROGRAM'],
    ['a NUL character', ['a', 'secret\0'], 'NUL'],
  ])('are refused with %s, without their text', (_, command, message) => {
    expect(() => commandWords(command)).toThrow(message);
    expect(() => commandWords(command)).not.toThrow('secret');
  });

  test('are those that were quoted for a shell', () => {
    const word = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(word), (rest) => {
        const words = ['a', ...rest];
        expect(commandWords(words.map(shellWord).join(' '))).toEqual(words);
      }),
    );
  });
});

describeOnPosix('the words of a command', () => {
  test('are those of a shell', () => {
    const piece = fc.constantFrom('a', ' ', "'", '"', '\\', '\t', '=', '.', '/');
    const text = fc
      .array(piece, { maxLength: 12 })
      .map((pieces) => `x ${pieces.join('')}`)
      .filter((each) => !/^a quote|^it ends/.test(problemOf(each)));
    const inShell = ['-c', String.raw`eval "set -- $1"; printf '%s\0' "$@"`, 'sh'];
    fc.assert(
      fc.property(text, (each) => {
        const words = execFileSync('sh', [...inShell, each], { encoding: 'utf8' });
        expect([...commandWords(each), ''].join('\0')).toBe(words);
      }),
      { numRuns: 50 },
    );
  });
});

function problemOf(command: string): string {
  try {
    commandWords(command);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
