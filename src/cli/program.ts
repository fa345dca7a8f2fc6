import { Argument, Command, Option } from 'commander';
import type { CommandGroupSpec, CommandSpec } from './command-spec.ts';
import { commands } from './commands.ts';
import type { Flags } from './config/load.ts';
import type { ExitCode } from './exit-codes.ts';
import { json, output } from './option-groups.ts';
import { writeDocument, writeResult, writeTalk } from './output.ts';
import { styled, withHeadings } from './render/style.ts';
import { indented, table } from './render/words.ts';

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
  CQBATCH_QUEUE=redis://…           or --queue; else the embedded datastore

Exit codes:
  0  every row succeeded            4  datastore or authentication failed
  1  some rows failed               5  busy: another run is going on
  2  usage or manifest error:       6  stopped by a budget, to be resumed
     nothing was sent               130  interrupted
  3  halted or cancelled`;

const installing = `
Install it once:
  cqbatch completion bash >> ~/.bashrc
  cqbatch completion zsh > ~/.zfunc/_cqbatch     # with fpath+=(~/.zfunc) before compinit
  cqbatch completion fish > ~/.config/fish/completions/cqbatch.fish`;

/** A shell has made several of one, on a day when there are several. */
const patternHint = " A pattern stands in quotation marks: 'inbox/*.csv'.";

/** The command line. */
export async function createProgram(version: string, args: readonly string[]): Promise<Command> {
  // Its commands inherit that commander neither writes nor ends the process by itself.
  const program = new Command('cqbatch')
    .exitOverride()
    .configureOutput({
      writeOut: writeResult,
      writeErr: writeTalk,
      outputError: (text, write) => write(text.replace(/^error: too many arguments.*/, `$&${patternHint}`)),
    })
    .description(intro)
    .version(version, '-V, --version')
    .addHelpText('after', withHeadings(outro))
    .showHelpAfterError(helpHint('cqbatch'))
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage()}`,
      styleTitle: (title) => styled('bold', title),
    });
  const define = (name: string, description: string): Command => subcommand(program, name, description);
  for (const spec of commands) {
    const command = define(spec.name, spec.description);
    if ('commands' in spec) defineGroup(command, spec);
    else defineCommand(command, spec);
  }
  define('version', 'the version of cqbatch')
    .option(...json)
    .action((flags: Flags) => (flags.json ? writeDocument({ version }) : writeResult(`${version}\n`)));
  defineCompletion(
    program,
    define('completion', 'the script that completes commands, options and runs in a shell'),
    version,
  );
  const sandbox = define('sandbox', 'the service as a local server, for demos, tests and rehearsals');
  if (isNamed('sandbox', args)) (await import('./sandbox.ts')).defineSandbox(sandbox);
  return program;
}

function subcommand(parent: Command, name: string, description: string): Command {
  const above = parent.parent === null ? 'cqbatch' : `cqbatch ${parent.name()}`;
  return parent
    .command(name)
    .description(description)
    .showHelpAfterError(helpHint(`${above} ${name}`));
}

function defineGroup(group: Command, { commands, examples = [] }: CommandGroupSpec): void {
  for (const spec of commands) defineCommand(subcommand(group, spec.name, spec.description), spec);
  group.optionsGroup(`${output.heading}:`).helpOption(true);
  showExamples(group, examples);
}

function showExamples(command: Command, examples: NonNullable<CommandSpec['examples']>): void {
  if (examples.length > 0)
    command.addHelpText('after', withHeadings(`\nExamples:\n${indented(table(examples))}`));
}

/** Puts together what an option says that may be repeated. */
type Collect = (text: string, before: unknown) => unknown;

function defineCommand(command: Command, spec: CommandSpec): void {
  const {
    argument,
    secondArgument,
    options = [],
    seldomNeeded = [],
    examples = [],
    printsAsJson,
    load,
  } = spec;
  if (argument !== undefined) command.argument(...argument);
  if (secondArgument !== undefined) command.argument(...secondArgument);
  for (const group of [...options, output, ...seldomNeeded]) {
    command.optionsGroup(`${group.heading}:`);
    for (const [flags, description, more] of group.options) {
      if (typeof more === 'function') command.option(flags, description, more as Collect);
      else if (flags === json[0]) command.option(flags, printsAsJson ?? description);
      else command.option(flags, description, more);
    }
    // Else it would open a group of its own.
    if (group === output) command.helpOption(true);
  }
  showExamples(command, examples);
  const hasDryRun = command.options.some(({ long }) => long === '--dry-run');
  if (!hasDryRun) refuseDryRun(command);
  command.action(async (...args: unknown[]) => {
    const act = (await load()) as (...args: unknown[]) => Promise<ExitCode>;
    process.exitCode = await act(...args.slice(0, -2), typedFlags(command));
  });
}

/** The flags that were typed, without those that have a default: what is typed is written down, and suggested again. */
function typedFlags(command: Command): Flags {
  const typed = Object.entries(command.opts()).filter(
    ([name]) => command.getOptionValueSource(name) === 'cli',
  );
  return Object.fromEntries(typed);
}

/** Other tools have this option where `cqbatch` has a command. */
function refuseDryRun(command: Command): void {
  command.addOption(new Option('--dry-run').hideHelp());
  command.on('option:dry-run', () =>
    command.error('error: there is no --dry-run: "cqbatch plan" looks at every row and sends nothing'),
  );
}

/** Prints a script for a shell; what that asks for is answered by a command that is not shown. */
function defineCompletion(program: Command, completion: Command, version: string): void {
  completion
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish']))
    .option(...json)
    .addHelpText('after', withHeadings(installing))
    .action(async (shell: 'bash' | 'zsh' | 'fish', flags: Flags) => {
      const { completionScripts } = await import('./completion.ts');
      const script = completionScripts[shell];
      if (flags.json) writeDocument({ shell, script });
      else writeResult(script);
    });
  program.command('__complete [words...]', { hidden: true }).action(async (words: readonly string[]) => {
    const { completionsFor, completionText } = await import('./completion.ts');
    writeResult(completionText(await completionsFor(await createProgram(version, words), words)));
  });
}

function helpHint(command: string): string {
  return `(type "${command} --help" for help)`;
}

/** Whether that is the command that is run, or that help is asked for. */
function isNamed(name: string, args: readonly string[]): boolean {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return name === (first === 'help' ? second : first);
}
