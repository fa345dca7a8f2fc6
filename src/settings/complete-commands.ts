import { shellLine } from '../base/text/command-words.ts';
import { flagWords, type RawSettings, sharingFlags } from './settings.ts';

/** What leads to the runs, the operations and the API that a command is about, as it was typed. */
export type TypedPlace = Pick<
  RawSettings,
  (typeof sharingFlags)[number] | 'baseUrl' | 'rateGroup' | 'tokenFile' | 'operations'
> & {
  readonly stateDir?: string | undefined;
  readonly allowInsecureHttp?: boolean | undefined;
};

type Options = readonly (keyof TypedPlace)[];

const apiOptions: Options = ['baseUrl', 'rateGroup', 'allowInsecureHttp'];
/** Not `--token-command`, whose arguments may be secret: completed commands also stand on pages. */
const tokenOptions: Options = ['tokenFile'];
const operationsOptions: Options = ['operations'];

const ofManifest: Options = [...operationsOptions, ...apiOptions, ...tokenOptions];
const ofProcess: Options = [...sharingFlags, ...ofManifest];
/** A run has its API. */
const ofRun: Options = [...operationsOptions, ...tokenOptions];
const ofOwnRun: Options = [...sharingFlags, ...ofRun];

/**
 * The options, besides `--state-dir`, that lead to the runs, the operations and the API that a command is about. The command specs can't be
 * asked: they lead to the commands, which print messages. A test compares the two.
 */
export const placeOptions: Readonly<Record<string, Options>> = {
  plan: ofManifest,
  export: ofManifest,
  submit: ofManifest,
  'schedule add': [...operationsOptions, ...apiOptions],
  'schedule list': [],
  'schedule show': [],
  'schedule history': [],
  'schedule pause': [],
  'schedule unpause': [],
  'schedule trigger': [],
  'schedule remove': [],
  run: ofProcess,
  watch: ofProcess,
  worker: ofProcess,
  doctor: ofProcess,
  'dashboard --start': ofProcess,
  dashboard: sharingFlags,
  'resume --submit': [],
  resume: ofOwnRun,
  retry: ofOwnRun,
  undo: ofOwnRun,
  check: ofRun,
  status: sharingFlags,
  list: sharingFlags,
  pause: sharingFlags,
  unpause: sharingFlags,
  cancel: sharingFlags,
  'set-rate': sharingFlags,
  'set-priority': sharingFlags,
  show: [],
  report: [],
  verify: [],
  prune: [],
  init: [],
};

const names = Object.keys(placeOptions).filter((name) => !name.includes(' --'));

/** A command in a text. The words that follow, of which some may be prose, end at a quotation mark, a semicolon or the end of the line. */
const commands = new RegExp(
  `\\bcqbatch (${names.join('|')})(?![\\w-])(?=((?: (?:"[^"\\n]*"|(?:'[^'\\n]*'|\\\\')+|[^\\s"';]+))*))`,
  'g',
);

/**
 * Completes the commands in a message: each gets the options of a place with which this command was typed, if the other command has such an
 * option and the message does not give it a value. What variables and `config.json` say needs no option.
 */
export function completeCommands(text: string, typedPlace: TypedPlace): string {
  return text.replace(commands, (command, name: string, rest: string) => {
    const words = rest.split(' ');
    const [kind = name] = ['--submit', '--start']
      .filter((option) => words.includes(option))
      .map((option) => `${name} ${option}`)
      .filter((each) => each in placeOptions);
    const options = ['stateDir', ...(placeOptions[kind] ?? [])] as const;
    const added = options.flatMap((option) => {
      const [flag = '', ...value] = flagWords({ [option]: typedPlace[option] });
      return flag === '' || words.includes(flag) ? [] : [flag, ...value];
    });
    return added.length === 0 ? command : `${command} ${shellLine(added)}`;
  });
}
