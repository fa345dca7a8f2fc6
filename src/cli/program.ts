import { Argument, Command, Option } from 'commander';
import type { CommandGroupSpec, CommandSpec, NamedSpec } from './command-spec.ts';
import { commands } from './commands.ts';
import type { Flags } from './config/load.ts';
import type { ExitCode } from './exit-codes.ts';
import { type OptionGroups, output } from './option-groups.ts';
import { fieldOption, optionOf } from './option-table.ts';
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
  for (const spec of commands)
    defineCommand(program, spec, isNamed(spec.name, args) ? await optionsOfFields(spec) : undefined);
  const define = (name: string, description: string): Command => subcommand(program, { name, description });
  define('version', 'the version of cqbatch')
    .addOption(optionOf('json'))
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

function subcommand(parent: Command, { name, description, examples = [] }: NamedSpec): Command {
  const above = parent.parent === null ? 'cqbatch' : `cqbatch ${parent.name()}`;
  const command = parent
    .command(name)
    .description(description)
    .showHelpAfterError(helpHint(`${above} ${name}`));
  if (examples.length > 0)
    command.addHelpText('after', withHeadings(`\nExamples:\n${indented(table(examples))}`));
  return command;
}

/** The options of the fields of operations, for a command that reads rows; the others begin without operations. */
async function optionsOfFields(spec: CommandSpec | CommandGroupSpec): Promise<readonly Option[]> {
  const specs = 'commands' in spec ? spec.commands : [spec];
  const groups = specs.flatMap(({ options, seldomNeeded }) => Object.values({ ...options, ...seldomNeeded }));
  if (!groups.flat().includes('default')) return [];
  const { fieldOptions } = await import('../../jobs/index.ts');
  return fieldOptions.map(({ name, option }) => fieldOption(name, option));
}

/**
 * @param forFields stand behind `--default`, for which they are short; undefined: the command is only listed, without its options
 */
function defineCommand(
  parent: Command,
  spec: CommandSpec | CommandGroupSpec,
  forFields: readonly Option[] | undefined,
): void {
  const command = subcommand(parent, spec);
  if ('commands' in spec) {
    for (const each of spec.commands) defineCommand(command, each, forFields);
    command.optionsGroup('Output:').helpOption(true);
    return;
  }
  for (const argument of spec.arguments ?? []) command.argument(...argument);
  if (forFields === undefined) return;
  const addOptions = (groups: OptionGroups = {}): void => {
    for (const [heading, names] of Object.entries(groups)) {
      command.optionsGroup(`${heading}:`);
      for (const name of names) {
        command.addOption(optionOf(name, spec));
        if (name === 'default') for (const option of forFields) command.addOption(option);
      }
    }
  };
  addOptions(spec.options);
  addOptions(output);
  // Else it would open a group of its own.
  command.helpOption(true);
  addOptions(spec.seldomNeeded);
  if (command.options.every(({ long }) => long !== '--dry-run')) refuseDryRun(command);
  command.action(async (...args: unknown[]) => {
    const act = (await spec.load()) as (...args: unknown[]) => Promise<ExitCode>;
    process.exitCode = await act(...args.slice(0, -2), typedFlags(command));
  });
}

/** The flags that were typed. Those that begin with `--no-` have a value in any case, and what is typed is written down. */
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
    .addOption(optionOf('json'))
    .addHelpText('after', withHeadings(installing))
    .action(async (shell: 'bash' | 'zsh' | 'fish', flags: Flags) => {
      const { completionScripts } = await import('./completion.ts');
      const script = completionScripts[shell];
      if (flags.json) writeDocument({ shell, script });
      else writeResult(script);
    });
  program.command('__complete [words...]', { hidden: true }).action(async (words: readonly string[]) => {
    const { completionsFor } = await import('./completion.ts');
    writeResult(await completionsFor(await createProgram(version, words), words));
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
