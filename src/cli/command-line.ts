import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { Argument, Command, CommanderError } from 'commander';
import { attemptMs, connectMs } from '../base/connect-attempt.ts';
import type { ErrorCode } from '../base/errors/error-codes.ts';
import { usageError } from '../base/errors/errors.ts';
import { readVersion } from '../base/package.ts';
import { escapeInvisible } from '../base/text/printable.ts';
import { completeCommands } from '../settings/complete-commands.ts';
import { isBlankSetting } from '../settings/settings.ts';
import { type CommandGroupSpec, type CommandSpec, type NamedSpec, textsOfUnused } from './command-spec.ts';
import { commandGroups } from './commands.ts';
import type { Flags } from './config.ts';
import { type ExitCode, exitCodeOfError, exitCodes, Interrupted, knownError } from './exit-codes.ts';
import { helpLayout, purpose } from './help.ts';
import { endAtSignals, outliveHangup } from './interrupt.ts';
import { type OptionGroups, outputOptions } from './option-groups.ts';
import { fieldOption, optionOf } from './option-table.ts';
import { outliveTerminal, writeDocument, writeResult, writeTalk } from './output.ts';
import { withHeadings } from './render/style.ts';
import { indentedText } from './render/words.ts';
import { openTerminal } from './terminal.ts';

/** A process ends this long after its command, even if open handles would keep it alive. */
const lingerMs = 2_000;

export async function runProcess(): Promise<void> {
  const args = process.argv.slice(2);
  outliveTerminal();
  outliveHangup();
  endAtSignals(() => process.exit(explain(new Interrupted('work'), args)));

  // New files are readable only by the user: manifests and answers are private. The mask also applies to the files of PGlite.
  process.umask(0o077);
  // If a host has several addresses, each is tried for this long. The process has one value: the driver of Redis has no option.
  setDefaultAutoSelectFamilyAttemptTimeout(attemptMs(connectMs));

  // Node would print the error unescaped and exit with 1, which means failed rows.
  process.on('uncaughtException', (error) => process.exit(explain(error, args)));

  await runCommand(args);
  // A datastore that does not answer must not keep the process alive.
  setTimeout(() => process.exit(), lingerMs).unref();
}

export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(readVersion(), args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = explain(error, args);
  }
}

function explain(error: unknown, args: readonly string[]): number {
  const json = args.includes('--json');
  if (error instanceof CommanderError) {
    // With exit code 0, Commander has printed the help or the version that the user asked for.
    if (error.exitCode === 0) return exitCodes.success;
    if (json) printJson('USAGE', error.message.replace(/^error: /, ''));
    return exitCodes.usage;
  }
  if (error instanceof Interrupted) {
    if (json) writeDocument({ state: 'interrupted' });
    const text = error.interruptedAt === 'work' ? 'Interrupted.' : 'Nothing was sent or changed.';
    writeTalk(`${error.interruptedAt === 'question' ? '\n' : ''}${text}\n`);
    return exitCodeOfError(error);
  }
  const known = knownError(error);
  const message = known?.message ?? `Unexpected error: ${(error as Error).stack ?? String(error)}`;
  if (json) printJson(known?.code ?? 'UNEXPECTED', message);
  writeTalk(`error: ${known === undefined ? message : escapeInvisible(message)}\n`);
  return exitCodeOfError(error);
}

function printJson(code: ErrorCode, message: string): void {
  try {
    writeDocument({ error: { code, message } });
  } catch {
    // If the document can't be written, the user still sees the error: standard error has it, too.
  }
}

const installing = `
Install it once:
  cqbatch completion bash >> ~/.bashrc
  cqbatch completion fish > ~/.config/fish/completions/cqbatch.fish
  # zsh: with fpath+=(~/.zfunc) before compinit
  cqbatch completion zsh > ~/.zfunc/_cqbatch`;

/** A command with more options than this shows only its common ones after `-h`. */
const manyOptions = 15;

/** Makes the program with all commands. Only commands that `args` name get options, for a fast start. */
export async function createProgram(version: string, args: readonly string[]): Promise<Command> {
  // All commands inherit the settings that the program has here.
  const program = new Command('cqbatch')
    .exitOverride()
    .configureOutput({
      writeOut: writeResult,
      writeErr: writeTalk,
    })
    .usage('<command> [options]')
    .description(purpose)
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError(helpHint('cqbatch'))
    .configureHelp(helpLayout(args.includes('--all')));
  for (const [heading, specs] of Object.entries(commandGroups)) {
    program.commandsGroup(`${heading}:`);
    for (const spec of specs)
      await defineCommand(
        program,
        spec,
        !isNamed(spec.name, args)
          ? 'none'
          : args.includes('-h') && !args.includes('--all')
            ? 'common'
            : 'all',
      );
  }
  const define = (name: string, description: string): Command => subcommand(program, { name, description });
  define('version', 'Prints the version')
    .addOption(optionOf('json'))
    .action((flags: Flags) => (flags.json ? writeDocument({ version }) : writeResult(`${version}\n`)));
  defineCompletion(program, define('completion', 'Prints the script for Tab completion in a shell'), version);
  const sandbox = define('sandbox', 'Runs a local test service');
  program.helpCommand('help [command]', 'Shows the help of a command');
  if (isNamed('sandbox', args)) (await import('./commands/sandbox.ts')).defineSandbox(sandbox);
  return program;
}

function subcommand(parent: Command, spec: NamedSpec & Pick<CommandSpec, 'arguments'>): Command {
  const { name, description, details, examples = [] } = spec;
  const parentWords = parent.parent === null ? 'cqbatch' : `cqbatch ${parent.name()}`;
  const command = parent
    .command(name)
    .summary(description)
    .description(
      withHeadings(`${description}.${details === undefined ? '' : ` ${details}`}${examplesText(examples)}`),
    )
    .showHelpAfterError(helpHint(`${parentWords} ${name}`));
  for (const argument of spec.arguments ?? []) command.argument(...argument);
  return command;
}

function examplesText(examples: NonNullable<NamedSpec['examples']>): string {
  if (examples.length === 0) return '';
  return `\n\nExamples:\n${indentedText(examples.flatMap(([command, purpose]) => [`# ${purpose}`, command]))}`;
}

/** Adds a command to the program. @param shown the options in its help; `none` for a command that is only listed */
async function defineCommand(
  parent: Command,
  spec: CommandSpec | CommandGroupSpec,
  shown: 'none' | 'common' | 'all',
): Promise<void> {
  const command = subcommand(parent, spec);
  if ('commands' in spec) {
    for (const each of spec.commands) await defineCommand(command, each, shown);
    command.helpCommand('help [command]', 'Shows the help of a command');
    command.optionsGroup('Output:').helpOption('-h, --help', 'show this help');
    return;
  }
  if (shown === 'none') return;
  const groups: OptionGroups = { ...spec.options, Output: outputOptions };
  const names = Object.values(groups).flat();
  const fields = names.includes('default') ? (await import('../../jobs/index.ts')).fieldOptions : [];
  const isLayered = names.length + fields.length > manyOptions;
  const isCut = shown === 'common' && isLayered;
  for (const [heading, options] of Object.entries(groups)) {
    command.optionsGroup(`${heading}:`);
    for (const name of options) {
      command.addOption(optionOf(name, spec, isCut));
      if (name === 'default')
        for (const field of fields) command.addOption(fieldOption(field.name, field.option, isCut));
    }
  }
  command.helpOption(
    '-h, --help',
    isLayered ? '-h: the usual options; --help: all options' : 'show this help',
  );
  if (isCut) {
    const words = `cqbatch ${parent.parent === null ? '' : `${parent.name()} `}${spec.name}`;
    command.addHelpText('after', `\nAll options: ${words} --help, and docs/reference.md`);
  }
  command.action(async (...args: unknown[]) => {
    const flags = typedFlags(command);
    refuseBlank(command, flags);
    const { warn } = openTerminal(flags);
    for (const text of await textsOfUnused(spec.unused ?? {}, flags)) warn(`warning: ${text}`);
    try {
      const act = (await spec.load()) as (...args: unknown[]) => Promise<ExitCode>;
      process.exitCode = await act(...args.slice(0, -2), flags);
    } catch (error) {
      throw withCompleteCommands(error, flags);
    }
  });
}

/** Completes the commands in the message of an error. */
function withCompleteCommands(error: unknown, flags: Flags): unknown {
  const known = knownError(error);
  if (known === undefined) return error;
  known.message = completeCommands(known.message, flags);
  return known;
}

/** Refuses empty option values. @throws a usage error: a script's unset variable must not mean all rows or the newest run */
function refuseBlank({ options, args }: Command, flags: Flags): void {
  const typed = Object.entries(flags).find(([, value]) => [value].flat().some(isBlankText));
  const option = options.find((each) => each.attributeName() === typed?.[0])?.long;
  const what = option ?? (args.some(isBlankText) ? 'An argument' : undefined);
  if (what !== undefined)
    throw usageError(
      'INVALID_SETTING',
      `${what} is empty: give it a value, or leave it out. Is a variable unset?`,
    );
}

function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && isBlankSetting(value);
}

/** The options that the user typed: `--no-…` options always have a value, but runs store only what was typed. */
function typedFlags(command: Command): Flags {
  const typed = Object.entries(command.opts()).filter(
    ([name]) => command.getOptionValueSource(name) === 'cli',
  );
  return Object.fromEntries(typed);
}

function defineCompletion(program: Command, completion: Command, version: string): void {
  completion
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .addOption(optionOf('json'))
    .addHelpText('after', withHeadings(installing))
    .action(async (shell: 'bash' | 'zsh' | 'fish', flags: Flags) => {
      const { completionScripts } = await import('./commands/completion.ts');
      const script = completionScripts[shell];
      if (flags.json) writeDocument({ shell, script });
      else writeResult(script);
    });
  program.command('__complete [words...]', { hidden: true }).action(async (words: readonly string[]) => {
    const { completionsFor } = await import('./commands/completion.ts');
    writeResult(await completionsFor(await createProgram(version, words), words));
  });
}

function helpHint(command: string): string {
  return `(type "${command} -h" for help)`;
}

function isNamed(name: string, args: readonly string[]): boolean {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return name === (first === 'help' ? second : first);
}
