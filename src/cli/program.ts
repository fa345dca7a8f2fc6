import { Command } from 'commander';
import { cancelCommand } from './commands/cancel.ts';
import { listCommand } from './commands/list.ts';
import { planCommand } from './commands/plan.ts';
import { reportCommand } from './commands/report.ts';
import { resumeCommand } from './commands/resume.ts';
import { retryCommand } from './commands/retry.ts';
import { runCommand } from './commands/run.ts';
import { sandboxCommand } from './commands/sandbox.ts';
import { statusCommand } from './commands/status.ts';

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

Exit codes: 0 every row succeeded; 1 some rows failed; 2 usage or manifest error, nothing was sent;
            3 halted or cancelled; 4 datastore or authentication failed; 130 interrupted`;

/** The whole command line. Only light modules are loaded here: what a command needs is loaded when it runs. */
export function createProgram(version: string): Command {
  const program = new Command('cqbatch')
    .description(intro)
    .version(version, '-V, --version')
    .addHelpText('after', outro)
    .showHelpAfterError('(type "cqbatch --help" for help)')
    .configureHelp({ sortOptions: false });
  const commands = [
    planCommand(),
    runCommand(),
    resumeCommand(),
    retryCommand(),
    statusCommand(),
    listCommand(),
    cancelCommand(),
    reportCommand(),
    sandboxCommand(),
  ];
  for (const command of commands) program.addCommand(command);
  return program;
}
