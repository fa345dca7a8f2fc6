import { createProgram } from '../../src/cli/program.ts';
import { plain } from '../../src/cli/render/style.ts';

/** What `cqbatch` prints for these words, of which one asks for help, on a screen of 80 columns without colours. */
export async function helpOf(...words: readonly string[]): Promise<string> {
  const program = await createProgram('1.2.3', words);
  let command = program;
  for (const word of words) command = command.commands.find((known) => known.name() === word) ?? command;
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  return plain(text);
}
