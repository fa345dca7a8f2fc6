import { Command } from 'commander';

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

/** A command as the list of commands shows it. */
interface CommandEntry {
  readonly name: string;
  readonly usage: string;
  readonly description: string;
  /** Loads what adds the command's options and action. */
  readonly load: () => Promise<(command: Command) => void>;
}

const entries: readonly CommandEntry[] = [
  {
    name: 'plan',
    usage: '[options] <manifest>',
    description: 'validate every row, count, estimate and preview requests; sends nothing',
    load: async () => (await import('./commands/plan.ts')).definePlan,
  },
  {
    name: 'run',
    usage: '[options] <manifest>',
    description: 'plan, ask, call the API for every row, and write the report',
    load: async () => (await import('./commands/run.ts')).defineRun,
  },
  {
    name: 'resume',
    usage: '[options] [run]',
    description: 'go on where a run stopped; rows that have a result are not called again',
    load: async () => (await import('./commands/resume.ts')).defineResume,
  },
  {
    name: 'retry',
    usage: '[options] [run]',
    description: 'start a new run of the rows that failed in a run',
    load: async () => (await import('./commands/retry.ts')).defineRetry,
  },
  {
    name: 'status',
    usage: '[options] [run]',
    description: 'where a run stands, also while it is going',
    load: async () => (await import('./commands/status.ts')).defineStatus,
  },
  {
    name: 'list',
    usage: '[options]',
    description: 'the runs of this state folder and of the shared datastore, newest first',
    load: async () => (await import('./commands/list.ts')).defineList,
  },
  {
    name: 'cancel',
    usage: '[options] [run]',
    description: 'give a run up for good, also one that is going; rows that were not called stay so',
    load: async () => (await import('./commands/cancel.ts')).defineCancel,
  },
  {
    name: 'pause',
    usage: '[options] [run]',
    description: 'let a run rest: no more rows are called until it is unpaused',
    load: async () => (await import('./commands/pause.ts')).definePause,
  },
  {
    name: 'unpause',
    usage: '[options] [run]',
    description: 'let a paused run go on',
    load: async () => (await import('./commands/unpause.ts')).defineUnpause,
  },
  {
    name: 'report',
    usage: '[options] [run]',
    description: 'write the report of a run again, also while it is going, and show where it is',
    load: async () => (await import('./commands/report.ts')).defineReport,
  },
  {
    name: 'worker',
    usage: '[options]',
    description: 'call the API for the runs of a shared datastore, until it is stopped',
    load: async () => (await import('./commands/worker.ts')).defineWorker,
  },
  {
    name: 'submit',
    usage: '[options] <manifest>',
    description: 'plan, ask, and hand the run to a "cqbatch worker --coordinate"',
    load: async () => (await import('./commands/submit.ts')).defineSubmit,
  },
  {
    name: 'sandbox',
    usage: '[options]',
    description: 'the service as a local server, for demos, tests and rehearsals',
    load: async () => (await import('./commands/sandbox.ts')).defineSandbox,
  },
];

/**
 * The command line. Only the command that the arguments name is defined in full, and what it works with is loaded when
 * it runs: `cqbatch --help` has to be quick.
 */
export async function createProgram(version: string, args: readonly string[]): Promise<Command> {
  const program = new Command('cqbatch')
    .description(intro)
    .version(version, '-V, --version')
    .addHelpText('after', outro)
    .showHelpAfterError(helpHint('cqbatch'))
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` });
  const named = namedCommand(args);
  for (const { name, usage, description, load } of entries) {
    const command = new Command(name)
      .usage(usage)
      .description(description)
      .showHelpAfterError(helpHint(`cqbatch ${name}`));
    if (name === named) (await load())(command);
    program.addCommand(command);
  }
  return program;
}

function helpHint(command: string): string {
  return `(type "${command} --help" for help)`;
}

/** The command that is run, or that help is asked for. */
function namedCommand(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}
