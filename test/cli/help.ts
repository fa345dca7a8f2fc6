import { createProgram } from '../../src/cli/program.ts';

/** What `cqbatch <name> --help` prints on a screen of that width. */
export async function helpOf(name: string, columns: number): Promise<string> {
  const program = await createProgram('1.2.3', [name, '--help']);
  const command = program.commands.find((known) => known.name() === name);
  let text = '';
  command?.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => columns,
  });
  command?.outputHelp();
  return text;
}
