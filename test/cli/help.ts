import type { Command } from 'commander';
import { createProgram } from '../../src/cli/command-line.ts';
import { commandGroups } from '../../src/cli/commands.ts';
import { withoutMarks } from '../../src/cli/render/style.ts';

/** What `cqbatch` prints for these words, of which one asks for help, on a screen of 80 columns without colors. */
export function helpOf(...words: readonly string[]): Promise<string> {
  return helpOn(80, ...words);
}

export async function helpOn(columns: number, ...words: readonly string[]): Promise<string> {
  const program = await createProgram('1.2.3', words);
  let command = program;
  for (const word of words) command = command.commands.find((known) => known.name() === word) ?? command;
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => columns,
  });
  command.outputHelp();
  return withoutMarks(text);
}

/** Every command with all of its options, by what is typed for it, in the order of the help. */
export async function everyCommand(): Promise<ReadonlyMap<string, Command>> {
  const names = Object.values(commandGroups).flatMap((specs) => specs.map(({ name }) => name));
  const found = new Map<string, Command>();
  for (const name of [...names, 'version', 'completion', 'sandbox']) {
    const program = await createProgram('0', [name]);
    for (const command of program.commands.filter((each) => each.name() === name)) {
      found.set(name, command);
      for (const below of command.commands) found.set(`${name} ${below.name()}`, below);
    }
  }
  return found;
}
