import { type Command, Help } from 'commander';
import { styled } from './render/style.ts';
import { defaultColumns } from './render/words.ts';

/** A term, such as `--rate <rate>`, and what it means. */
type Item = readonly [term: string, meaning: string];
type Section = readonly [heading: string, items: readonly Item[]];

export const purpose =
  'Calls a call-quality service once for each row of a file: restores deleted evaluations, updates soundboard entries, and reports what happened to every row.';

const firstSection: Section = [
  'Begin here:',
  [
    ['cqbatch sandbox', 'starts a local test service to practice with'],
    ['cqbatch plan evaluations.csv', 'checks every row and shows what would be sent'],
    ['cqbatch run evaluations.csv', 'plans, asks, calls the API, and reports'],
  ],
];

/** The commands of a first week, in the order of their use. */
const firstCommands = [
  'sandbox',
  'doctor',
  'export',
  'plan',
  'run',
  'status',
  'list',
  'show',
  'resume',
  'retry',
  'undo',
  'cancel',
];

const apiSection: Section = [
  'The API and its token:',
  [
    ['CQBATCH_BASE_URL=https://…', 'or --base-url'],
    ['CQBATCH_TOKEN=…', 'or --token-file FILE; a token is never a flag'],
    ["CQBATCH_TOKEN_COMMAND='…'", 'or --token-command; prints the token, again when the token ends'],
  ],
];

const whereToFindMore = 'One command: "cqbatch run -h".\nAll commands and exit codes: "cqbatch help --all".';

const lastSections: readonly Section[] = [
  apiSection,
  ['Many machines share a Redis:', [['CQBATCH_QUEUE=redis://…', 'or --queue; else the queue is embedded']]],
  [
    'Exit codes:',
    [
      ['0', 'every row succeeded'],
      ['1', 'some rows failed'],
      ['2', 'usage or manifest error: nothing was sent'],
      ['3', 'halted or cancelled'],
      ['4', 'datastore or authentication failed'],
      ['5', 'busy: another run is in progress'],
      ['6', 'stopped by a limit; resume continues'],
      ['130', 'interrupted'],
    ],
  ],
];

/** The widest term beside its meaning. Longer terms stand above their meanings. */
const mostTermColumns = 22;
/** If the screen leaves fewer columns for meanings, each term stands above its meaning. */
const leastMeaningColumns = 40;
const meaningBelow = 6;

/** The layout of all help. @param showsAll whether the help of the program has all commands */
export function helpLayout(showsAll: boolean): Partial<Help> {
  return {
    minWidthToWrap: 10,
    styleTitle: (title) => styled('bold', title),
    subcommandTerm: (command) =>
      `${command.name()} ${command.usage().replace(/^\[options\] ?/, '')}`.trimEnd(),
    padWidth(command, helper) {
      const terms = [
        ...helper.visibleOptions(command).map((option) => helper.optionTerm(option)),
        ...helper.visibleCommands(command).map((each) => helper.subcommandTerm(each)),
        ...helper.visibleArguments(command).map((argument) => helper.argumentTerm(argument)),
      ];
      return termColumns(terms);
    },
    formatItem,
    boxWrap(text, columns) {
      // A line that begins with a space is an example: its command is not wrapped, so that it can be copied.
      const wrap = (line: string): string =>
        line.startsWith(' ') ? line : Help.prototype.boxWrap.call(this, line, columns);
      return text.split('\n').map(wrap).join('\n');
    },
    formatHelp(command, helper) {
      if (command.parent !== null) return Help.prototype.formatHelp.call(this, command, helper);
      return programHelp(command, helper, showsAll);
    },
  };
}

function termColumns(terms: readonly string[]): number {
  return Math.max(0, ...terms.map(({ length }) => length).filter((length) => length <= mostTermColumns));
}

function formatItem(term: string, columns: number, meaning: string, helper: Help): string {
  const { helpWidth = defaultColumns } = helper;
  const before = columns + 4;
  const isBelow = helpWidth - before < leastMeaningColumns;
  const indentation = ' '.repeat(isBelow ? meaningBelow : before);
  const lines = helper.boxWrap(meaning, helpWidth - indentation.length).split('\n');
  const text = lines.map((line) => `${indentation}${line}`).join('\n');
  if (isBelow || term.length > columns) return `  ${term}\n${text}`;
  return `  ${term.padEnd(columns)}  ${text.slice(before)}`;
}

function programHelp(program: Command, helper: Help, showsAll: boolean): string {
  const commands = helper.visibleCommands(program);
  const itemOf = (each: Command): Item => [helper.subcommandTerm(each), helper.subcommandDescription(each)];
  const options = helper
    .visibleOptions(program)
    .map((option): Item => [helper.optionTerm(option), helper.optionDescription(option)]);
  const first = firstCommands.flatMap((name) => commands.filter((each) => each.name() === name));
  const groups = helper.groupItems([...program.commands], commands, (each) => each.helpGroup());
  const columns = helper.padWidth(program, helper);
  const columnsOfFirst = termColumns(first.map((each) => helper.subcommandTerm(each)));
  const wrap = (text: string): string => helper.boxWrap(text, helper.helpWidth ?? defaultColumns);
  const before = [
    `${helper.styleTitle('Usage:')} ${helper.commandUsage(program)}`,
    wrap(purpose),
    sectionText(firstSection, helper),
  ];
  const parts = showsAll
    ? [
        sectionText(['Options:', options], helper, columns),
        ...[...groups].map(([heading, each]) => sectionText([heading, each.map(itemOf)], helper, columns)),
        ...lastSections.map((section) => sectionText(section, helper)),
      ]
    : [
        sectionText(['Commands:', first.map(itemOf)], helper, columnsOfFirst),
        sectionText([apiSection[0], apiSection[1].slice(0, 2)], helper),
        wrap(whereToFindMore),
      ];
  return `${[...before, ...parts].join('\n\n')}\n`;
}

function sectionText(
  [heading, items]: Section,
  helper: Help,
  columns = Math.max(...items.map(([term]) => term.length)),
): string {
  const lines = items.map(([term, meaning]) => helper.formatItem(term, columns, meaning, helper));
  return [helper.styleTitle(heading), ...lines].join('\n');
}
