import type { Command, Option } from 'commander';
import { operations } from '../../../jobs/index.ts';
import { overlapRules } from '../../daemon/schedule/schedule.ts';
import { openScheduleStore } from '../../daemon/schedule/store.ts';
import { openRunStore } from '../../engine/run/record/store.ts';
import { settingWords } from '../../settings/settings.ts';
import { stateDirOf } from '../config.ts';
import { logLevels } from '../terminal.ts';

type Candidate = readonly [value: string, description?: string];

const filesCandidate = ':files';

const wordsOf: Readonly<Record<string, readonly string[]>> = {
  operation: operations.map(({ name }) => name),
  ...settingWords,
  logLevel: logLevels,
  format: ['csv', 'xlsx'],
  rate: ['auto', 'auto..50/s', '50/s', '600/m', '100/15s', 'none'],
  concurrency: ['auto'],
  canary: ['10', '10,random', '10,pause'],
  overlap: overlapRules,
};

/**
 * The words that a user may type at the cursor: on each line a word and its description, or `:files`.
 *
 * @param words after `cqbatch`; the user is typing the last word, which may be empty
 */
export async function completionsFor(program: Command, words: readonly string[]): Promise<string> {
  const typed = words.at(-1) ?? '';
  const completed = words.slice(0, -1);
  const command = commandOf(program, completed);
  const last = completed.at(-1);
  const option = command?.options.find(
    ({ required, long, short }) => required && last !== undefined && (last === long || last === short),
  );
  const candidates =
    option !== undefined
      ? await candidatesOfOption(option, completed)
      : command && (await candidatesOfWord(command, typed, completed));
  return (candidates ?? [])
    .filter(([value]) => value === filesCandidate || value.startsWith(typed))
    .map((candidate) => `${candidate.join(' ').trimEnd()}\n`)
    .join('');
}

function commandOf(program: Command, words: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const name of words.filter((word) => !word.startsWith('-'))) {
    if (command === undefined || command.commands.length === 0) break;
    command = command.commands.find((each) => each.name() === name);
  }
  return command;
}

async function candidatesOfOption(
  option: Option,
  completed: readonly string[],
): Promise<readonly Candidate[]> {
  if (/<run\|/.test(option.flags)) return [...(await runCandidates(completed)), [filesCandidate]];
  if (/<(?:file|dir)>/.test(option.flags)) return [[filesCandidate]];
  return (wordsOf[option.attributeName()] ?? []).map((word) => [word]);
}

async function candidatesOfWord(
  command: Command,
  word: string,
  completed: readonly string[],
): Promise<readonly Candidate[]> {
  const help = command.createHelp();
  if (word.startsWith('-')) {
    const options = help.visibleOptions(command);
    return options.map(({ long, short, description }) => [long ?? short ?? '', description]);
  }
  const subcommands = help.visibleCommands(command);
  if (subcommands.length > 0)
    return subcommands.map((each) => [each.name(), each.summary() || each.description()]);
  const [argument] = command.registeredArguments;
  if (argument?.name() === 'manifest' || argument?.name() === 'folder') return [[filesCandidate]];
  if (argument?.name() === 'list') return listCandidates;
  if (argument?.name() === 'run') return runCandidates(completed);
  if (argument?.name() === 'schedule') return scheduleCandidates(completed);
  return (argument?.argChoices ?? []).map((choice) => [choice]);
}

const listCandidates = operations.flatMap(({ list, name }): readonly Candidate[] =>
  list ? [[list.name, `for ${name}`]] : [],
);

/** Candidates for the name of a run. Unreadable runs are left out, because a completion can't report errors. */
async function runCandidates(words: readonly string[]): Promise<readonly Candidate[]> {
  const records = await openRunStore(stateDirIn(words), operations)
    .list(() => {})
    .catch(() => []);
  // Candidates have no manifest names: these may contain anything, and must not reach a shell.
  return records.toReversed().map(({ id, state }) => [id, state]);
}

async function scheduleCandidates(words: readonly string[]): Promise<readonly Candidate[]> {
  const readable = await openScheduleStore(stateDirIn(words))
    .list(() => {})
    .catch(() => []);
  return readable.map(({ name, cron, tz }) => [name, `${cron} ${tz}`]);
}

function stateDirIn(words: readonly string[]): string {
  const stateDir = words.includes('--state-dir') ? words[words.indexOf('--state-dir') + 1] : undefined;
  return stateDirOf({ stateDir });
}

/** The scripts for each shell. None of them evaluates an answer or a typed word as code. */
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
