import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { createProgram } from '../../src/cli/command-line.ts';
import { settings } from '../../src/settings/setting-table.ts';
import { nameInWords, resolveSettings } from '../../src/settings/settings.ts';

/** A file of `examples/scheduling`. */
export const readExample = (name: string): string => readFileSync(`examples/scheduling/${name}`, 'utf8');

/** A line as a shell takes it, without expansions. */
export function words(line: string): readonly string[] {
  const quoted = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g;
  return (line.match(quoted) ?? []).map((word) =>
    word.replace(
      /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g,
      (_, single?: string, double?: string, escaped?: string) =>
        single ?? double?.replace(/\\(.)/g, '$1') ?? escaped ?? '',
    ),
  );
}

/** The words of a line of a page, up to a comment, a redirection or the next command. */
export function typedWords(line: string): readonly string[] {
  const all = words(line.replaceAll('\\%', '%'));
  const end = all.findIndex((word) => /^(?:#|\||>|>>|&&|&|;)/.test(word));
  return end === -1 ? all : all.slice(0, end);
}

/** What our own command line makes of words behind `cqbatch`. @throws for an option that there is not */
export async function understood(args: readonly string[]) {
  const program = await createProgram('0', args);
  let command = program;
  for (const word of args) {
    const next = command.commands.find((sub) => sub.name() === word);
    if (next === undefined) break;
    command = next;
  }
  let ran = false;
  command.action(() => {
    ran = true;
  });
  for (const each of [program, command]) each.configureOutput({ writeErr: () => {} });
  await program.parseAsync([...args], { from: 'user' });
  expect(ran).toBe(true);
  return {
    name: command.name(),
    flags: command.opts(),
    given: resolveSettings({ flags: command.opts(), environment: {} }),
  };
}

/**
 * Checks that the command asks nothing, that a second start does no harm, and that it waits for another process.
 *
 * @throws for a command line that ours does not understand
 */
export async function expectUnattended(args: readonly string[]): Promise<void> {
  const { name, flags } = await understood(args);
  expect(['run', 'watch', 'worker', 'prune']).toContain(name);
  if (name === 'run' || name === 'watch') expect(flags).toMatchObject({ yes: true });
  if (name === 'run') expect(flags).toMatchObject({ orResume: true, runId: expect.any(String) });
  if (name !== 'run' && !flags['once']) return;
  expect(flags['wait']).toBeDefined();
}

/** What the comments of a file say to type, behind `cqbatch`. */
export function typedIn(text: string): readonly (readonly string[])[] {
  const lines = [...text.matchAll(/^# {2}.*\bcqbatch ((?:schedule|submit|run|watch) .*)$/gm)];
  return lines.map(([, line = '']) => words(line));
}

/** The variables of the program, but for those with secrets. */
export const variables: ReadonlySet<string> = new Set([
  ...Object.keys(settings).map((name) => `CQBATCH_${nameInWords(name, '_').toUpperCase()}`),
  'CQBATCH_STATE_DIR',
]);
