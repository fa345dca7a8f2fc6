import type { Command, Option } from 'commander';
import { operations } from '../../jobs/index.ts';
import { conflictRules } from '../manifest/check/conflicts.ts';
import { delimiterNames } from '../manifest/csv/delimiter.ts';
import { openRunStore } from '../run/record/store.ts';
import { type Flags, stateDirOf } from './config/load.ts';
import { logLevels } from './log.ts';

/** What may stand at the cursor, with a word on each; or the files that the shell knows. */
export interface Completions {
  readonly values: readonly (readonly [value: string, description: string])[];
  readonly files: boolean;
}

const none: Completions = { values: [], files: false };
const anyFile: Completions = { values: [], files: true };

/** The words that an option may have, by its name in the program. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  operation: operations.map(({ name }) => name),
  delimiter: Object.keys(delimiterNames),
  onConflict: conflictRules,
  logLevel: logLevels,
  format: ['csv', 'xlsx'],
  rate: ['auto', 'auto..50/s', '50/s', '600/m', 'none'],
  concurrency: ['auto'],
};

/**
 * What may follow on a command line.
 *
 * @param words those behind the name of the program; the last one is being typed, and may be empty.
 */
export async function completionsFor(program: Command, words: readonly string[]): Promise<Completions> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const command = commandOf(program, before);
  if (command === undefined) return none;
  const help = command.createHelp();
  const option = command.options.find((known) => known.required && isCalled(known, before.at(-1)));
  const found = option !== undefined ? await ofOption(option, before) : await ofWord(typed);
  return { ...found, values: found.values.filter(([value]) => value.startsWith(typed)) };

  async function ofWord(word: string): Promise<Completions> {
    if (word.startsWith('-')) {
      const options = help.visibleOptions(command as Command);
      return listed(options.map(({ long, short, description }) => [long ?? short ?? '', description]));
    }
    const below = help.visibleCommands(command as Command);
    if (below.length > 0) return listed(below.map((each) => [each.name(), each.description()]));
    const [argument] = (command as Command).registeredArguments;
    if (argument?.name() === 'manifest') return anyFile;
    if (argument?.name() === 'run') return runs(before);
    if (argument?.name() === 'schedule') return schedules(before);
    return listed((argument?.argChoices ?? []).map((choice) => [choice, '']));
  }
}

/** The command that the words name; undefined when there is none of that name. */
function commandOf(program: Command, words: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const name of words.filter((word) => !word.startsWith('-'))) {
    if (command === undefined || command.commands.length === 0) break;
    command = command.commands.find((known) => known.name() === name);
  }
  return command;
}

function isCalled({ long, short }: Option, word: string | undefined): boolean {
  return word !== undefined && (word === long || word === short);
}

function listed(values: Completions['values']): Completions {
  return { values, files: false };
}

async function ofOption(option: Option, before: readonly string[]): Promise<Completions> {
  if (/<run\|/.test(option.flags)) return { ...(await runs(before)), files: true };
  if (/<(?:file|dir)>/.test(option.flags)) return anyFile;
  const words = option.argChoices ?? wordsOf[option.attributeName()] ?? [];
  return listed(words.map((word) => [word, '']));
}

/** The runs of the state folder, the newest first. What cannot be read is left out: nobody could be told. */
async function runs(words: readonly string[]): Promise<Completions> {
  const records = await openRunStore(stateDirIn(words), operations)
    .list(() => {})
    .catch(() => []);
  // The name of a manifest may be anything; a shell is given nothing of the kind.
  return listed(records.toReversed().map(({ id, state }) => [id, state]));
}

async function schedules(words: readonly string[]): Promise<Completions> {
  const { openScheduleStore } = await import('../schedule/store.ts');
  const found = await openScheduleStore(stateDirIn(words))
    .list(() => {})
    .catch(() => []);
  return listed(found.map(({ name, cron, tz }) => [name, `${cron} ${tz}`]));
}

function stateDirIn(words: readonly string[]): string {
  const at = words.indexOf('--state-dir');
  const stateDir = at < 0 ? undefined : words[at + 1];
  const flags: Flags = stateDir === undefined ? {} : { stateDir };
  return stateDirOf(flags);
}

/** What `cqbatch __complete` prints: a value and what it is on each line, and `:files` where files may stand. */
export function completionText({ values, files }: Completions): string {
  const lines = values.map(([value, description]) => `${value} ${description}`.trimEnd());
  return [...lines, ...(files ? [':files'] : [])].map((line) => `${line}\n`).join('');
}

/**
 * What makes a shell ask `cqbatch __complete` for the words behind the cursor. Nothing that it answers, and nothing that was
 * typed, is evaluated.
 */
export const completionScripts = {
  bash: `# cqbatch completion bash >> ~/.bashrc
_cqbatch() {
  local line value
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
      continue
    fi
    value=\${line%% *}
    COMPREPLY+=("$value")
  done < <(cqbatch __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _cqbatch cqbatch
`,
  zsh: `#compdef cqbatch
# cqbatch completion zsh > a file called _cqbatch in a folder of $fpath
_cqbatch() {
  local line files= added=1
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=yes
    elif [[ $line == *' '* ]]; then
      found+=("\${line%% *}:\${line#* }")
    else
      found+=("$line")
    fi
  done < <(cqbatch __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe -V cqbatch found && added=0
  [[ -n $files ]] && _files && added=0
  return added
}
if [[ $funcstack[1] == _cqbatch ]]; then _cqbatch "$@"; else compdef _cqbatch cqbatch; fi
`,
  fish: `# cqbatch completion fish > ~/.config/fish/completions/cqbatch.fish
function __cqbatch_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  for line in (cqbatch __complete -- $words[2..-1] "$typed" 2>/dev/null)
    if test "$line" = :files
      __fish_complete_path "$typed"
    else
      string replace ' ' \\t -- $line
    end
  end
end
complete -c cqbatch -f -k -a '(__cqbatch_complete)'
`,
} as const;
