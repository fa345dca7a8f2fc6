import { Command } from 'commander';
import { commands, commonOptions } from './commands.ts';
import type { ExitCode } from './exit-codes.ts';
import { writeResult, writeTalk } from './output.ts';

const intro =
  'Calls a call-quality service once for every row of a manifest: restores deleted evaluations, updates soundboard ' +
  'entries. Every row ends in a report; nothing is lost or silently done twice, whatever is killed.';

const outro = `
Begin here:
  cqbatch plan evaluations.csv      look before you leap: nothing is sent
  cqbatch run evaluations.csv       do it
  cqbatch sandbox                   a local service to rehearse against

The API and its token:
  CQBATCH_BASE_URL=https://…        or --base-url
  CQBATCH_TOKEN=…                   or --token-file FILE; never a flag

Many machines share a Redis:
  CQBATCH_QUEUE=redis://…           or --queue; nothing means the embedded datastore

Exit codes: 0 every row succeeded; 1 some rows failed; 2 usage or manifest error, nothing was sent;
            3 halted or cancelled; 4 datastore or authentication failed; 130 interrupted`;

/** The command line. */
export async function createProgram(version: string, args: readonly string[]): Promise<Command> {
  // Its commands inherit that commander neither writes nor ends the process by itself.
  const program = new Command('cqbatch')
    .exitOverride()
    .configureOutput({ writeOut: writeResult, writeErr: writeTalk })
    .description(intro)
    .version(version, '-V, --version')
    .addHelpText('after', outro)
    .showHelpAfterError(helpHint('cqbatch'))
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` });
  const define = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .showHelpAfterError(helpHint(`cqbatch ${name}`));
  for (const { name, description, argument, options, load } of commands) {
    const command = define(name, description);
    if (argument !== undefined) command.argument(...argument);
    for (const option of [...options, ...commonOptions]) command.option(...option);
    command.action(async (...args: unknown[]) => {
      const act = (await load()) as (...args: unknown[]) => Promise<ExitCode>;
      process.exitCode = await act(...args);
    });
  }
  const sandbox = define('sandbox', 'the service as a local server, for demos, tests and rehearsals');
  if (isNamed('sandbox', args)) (await import('./sandbox.ts')).defineSandbox(sandbox);
  return program;
}

function helpHint(command: string): string {
  return `(type "${command} --help" for help)`;
}

/** Whether that is the command that is run, or that help is asked for. */
function isNamed(name: string, args: readonly string[]): boolean {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return name === (first === 'help' ? second : first);
}
