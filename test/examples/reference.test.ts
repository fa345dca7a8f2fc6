import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldOptions } from '../../jobs/index.ts';
import type { CodeTable } from '../../src/base/errors/codes/advice.ts';
import { codesOfRowsAndErrors, errorCodes } from '../../src/base/errors/error-codes.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { withoutMarks } from '../../src/cli/render/style.ts';
import { codeFacts, rowCodes } from '../../src/domain/codes.ts';
import { warningCodes } from '../../src/domain/warning-codes.ts';
import { runRecordSchema } from '../../src/engine/run/record/record.ts';
import type { Setting } from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/setting-table.ts';
import { type FlagName, flagOf, nameInWords, variableOf } from '../../src/settings/settings.ts';
import { everyCommand } from '../cli/help.ts';
import { descriptionOf, documentsOf } from '../json-documents/published.ts';
import { inCode, table } from './markdown.ts';

function settingRow([name, setting]: [string, Setting]): readonly string[] {
  const { noFlag, orVariable, help, behaviorWithout = '', default: usual } = setting;
  const [other, content] = orVariable ?? [];
  return [
    inCode(nameInWords(name, '_')),
    noFlag ? '' : inCode(flagOf(name as FlagName).flags),
    `${inCode(variableOf(name))}${other === undefined ? '' : `; ${inCode(other)} has ${content} itself`}`,
    inMarkdown(help),
    usual === undefined ? behaviorWithout : inCode(usual),
  ];
}

const commands = await everyCommand();

/** A text of help as Markdown: a placeholder is no tag, and a pattern no emphasis. */
const inMarkdown = (text: string) => text.replaceAll(/[<*]/g, '\\$&');

const shownOptions = ({ options }: Command): readonly Option[] => options.filter(({ hidden }) => !hidden);

type Options = readonly string[];

/** The options of a command, by their heading in its help: `API` → `--base-url`, `--rate-group`. */
function groupsOf(command: Command): ReadonlyMap<string, Options> {
  const groups = new Map<string, Options>();
  for (const { long, helpGroupHeading = 'Output:' } of shownOptions(command)) {
    const heading = helpGroupHeading.replace(':', '');
    groups.set(heading, [...(groups.get(heading) ?? []), inCode(long ?? '')]);
  }
  return groups;
}

const hasAll = (options: Options, of: Options): boolean => of.every((each) => options.includes(each));

/** Under each heading, the options that spare the page most words, if it lists them once for three or more commands. */
function sharedGroups(): ReadonlyMap<string, Options> {
  const all = [...commands.values()].flatMap((command) => [...groupsOf(command)]);
  const shared = new Map<string, { readonly options: Options; readonly spared: number }>();
  for (const [heading, options] of all) {
    const uses = all.filter(([other, theirs]) => other === heading && hasAll(theirs, options)).length;
    const spared = uses * options.length;
    if (uses > 2 && spared > (shared.get(heading)?.spared ?? 0)) shared.set(heading, { options, spared });
  }
  return new Map([...shared].map(([heading, { options }]) => [heading, options]));
}

const shared = sharedGroups();

/** A command, what it does, and its options. A shared group is its heading in bold. */
function commandRow([name, command]: [string, Command]): readonly string[] {
  const [description = ''] = withoutMarks(command.description()).split('\n');
  const places = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  const options = [...groupsOf(command)].flatMap(([heading, all]) => {
    const group = shared.get(heading);
    if (group === undefined || !hasAll(all, group)) return all;
    return [`**${heading}**`, ...all.filter((option) => !group.includes(option))];
  });
  return [inCode([name, ...places].join(' ')), inMarkdown(description), options.join(', ')];
}

/** Each option that is no setting, with what it does; the commands only if the option means something else in others. */
function optionRows(): readonly (readonly string[])[] {
  const settingFlags = new Set(
    [...Object.keys(settings), ...fieldOptions.map(({ name }) => name.replaceAll('_', '-'))].map(
      (name) => `--${nameInWords(name, '-')}`,
    ),
  );
  const rows = new Map<string, { readonly option: Option; readonly of: string[] }>();
  for (const [name, command] of commands) {
    for (const option of shownOptions(command).filter(({ long }) => !settingFlags.has(long ?? ''))) {
      const key = `${option.flags} ${option.description}`;
      const row = rows.get(key) ?? { option, of: [] };
      row.of.push(inCode(name));
      rows.set(key, row);
    }
  }
  const nameOf = ({ option: { long } }: { readonly option: Option }): string => long ?? '';
  const all = [...rows.values()].toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), 'en'));
  return all.map((row) => {
    const { option, of } = row;
    const isAmbiguous = all.filter((other) => nameOf(other) === nameOf(row)).length > 1;
    const place = isAmbiguous && of.length <= 15 ? `${of.join(', ')}: ` : '';
    return [inCode(option.flags), `${place}${inMarkdown(option.description)}`];
  });
}

/** What a command prints with `--json`. */
function documentRow(command: string): readonly string[] {
  const own = documentsOf(command).filter(({ $ref = '' }) => !/(?:Declined|Interrupted|Failure)$/.test($ref));
  return [inCode(command), inMarkdown(own.map(descriptionOf).join('; or '))];
}

const reference = `# Reference

## Commands

\`-h\` after a command shows examples and the usual options, \`--help\` shows all options. [Commands](commands.md) says how a command
chooses a run, and what it prints. These groups of options belong to several commands:

${table(
  ['group', 'options'],
  [...shared].map(([heading, options]) => [`**${heading}**`, options.join(', ')]),
)}

${table(['command', 'what it does', 'options'], [...commands].map(commandRow))}

## JSON documents

With \`--json\`, a command prints one of its documents, on one line. \`json.schema.json\` beside this page is a JSON Schema of all of
them; \`json.schema.json#/$defs/schedule-add\` is that of \`cqbatch schedule add\`. The schemas describe this version: the next version may add members.

Each definition also allows \`{"error": {"code": …, "message": …}}\`, which says why the command failed. A command that asks or waits may
print \`{"state": "declined"}\` or \`{"state": "interrupted"}\`: nothing was sent.

${table(['command', 'document'], [...commands.keys()].filter((name) => documentsOf(name).length > 0).map(documentRow))}

## Options

All other options are [settings](#settings).

${table(['option', 'meaning'], optionRows())}

## Settings

An editor completes and explains the keys of \`config.json\` if the file names \`config.schema.json\` as its \`$schema\`. \`cqbatch init\`
writes such a file. Keys that begin with \`//\` are comments.

A setting may come from a flag, from an environment variable or from \`config.json\` in the state folder (\`.cqbatch/config.json\`). A flag
wins over the environment, and the environment over the file. An empty value is an error; only an empty variable counts as unset, except
\`CQBATCH_WHERE\`: without a condition, every row would be called.

${table(['key in config.json', 'flag', 'variable', 'meaning', 'default'], Object.entries<Setting>(settings).map(settingRow))}

Fields of an operation may have a setting of their own:

${table(
  ['key in config.json', 'flag', 'meaning'],
  fieldOptions.map(({ name }) => [
    inCode(name),
    inCode(`--${name.replaceAll('_', '-')}`),
    `Short for ${inCode(`--default ${name}=…`)}.`,
  ]),
)}

## Error codes

The code of an error is in \`{"error": {"code": "DISK_FULL", "message": …}}\`, which \`--json\` and notifications have. The message names the
file, row or server, and what to type. [Exit codes](exit-codes.md) say whether something was sent.

${Object.entries<CodeTable>(errorCodes)
  .map(([subject, codes]) => `### ${subject}\n\n${adviceTable(codes)}`)
  .join('\n\n')}

These [codes of rows](#codes) also end a command: ${codesOfRowsAndErrors.map(inCode).join(', ')}.

## Warnings of a plan

\`plan --json\` has these codes in \`warnings\`, beside the [reasons why a plan is not ready](#manifests).

${adviceTable(warningCodes)}

## Codes

Each row of \`report.csv\` has one of these codes in the column \`_code\`, or the HTTP status of an answer that says nothing else
(\`HTTP_418\`). A row with an unclear code may have been processed; so may a row whose connection was lost, or whose answer came too late
or could not be used: its column \`_unclear\` says so. [The class](api-client.md#failures) says whether the call is repeated.

${table(
  ['code', 'meaning', 'what to do', 'class', 'unclear'],
  rowCodes.map((code) => {
    const { meaning, remedy = '', class: kind = '', unclear } = codeFacts(code);
    return [inCode(code), meaning, remedy, kind, unclear ? 'yes' : ''];
  }),
)}
`;

/** What happened and what to do, by code. */
function adviceTable(codes: CodeTable): string {
  return table(
    ['code', 'what happened', 'what to do'],
    Object.entries(codes).map(([code, [what, remedy]]) => [
      inCode(code),
      inMarkdown(what),
      inMarkdown(remedy),
    ]),
  );
}

/** What a value in the configuration file may be. */
function schemaOf({ help, value, words, isMap, isCommand, default: usual }: Setting): object {
  const facts = { description: help, ...(usual !== undefined && { default: usual }) };
  if (words !== undefined) return { ...facts, enum: words };
  if (isCommand) return { ...facts, type: ['string', 'array'], items: { type: 'string' } };
  if (isMap)
    return {
      ...facts,
      type: ['object', 'array', 'string', ...(value?.startsWith('<n|') ? ['integer'] : [])],
    };
  if (value === undefined) return { ...facts, type: 'boolean' };
  const isNumber = /^<(?:n|port|duration)\b/.test(value);
  return { ...facts, type: isNumber ? ['integer', 'string'] : 'string' };
}

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'config.json of cqbatch',
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    ...Object.fromEntries([
      ...Object.entries<Setting>(settings).map(([name, each]) => [nameInWords(name, '_'), schemaOf(each)]),
      ...fieldOptions.map(({ name }) => [
        name,
        { description: `${name} of rows that have none`, type: 'string' },
      ]),
    ]),
  },
  patternProperties: { '^//': {} },
  additionalProperties: false,
};

test.each([
  ['config.schema.json', 'matches the table of settings', schema],
  ['run.schema.json', 'describes run.json', z.toJSONSchema(runRecordSchema, { io: 'input' })],
])('docs/%s %s', async (file, _what, json) => {
  await expect(`${JSON.stringify(json, undefined, 2)}\n`).toMatchFileSnapshot(`../../docs/${file}`);
});

test('docs/reference.md matches the tables in the code', async () => {
  await expect(reference).toMatchFileSnapshot('../../docs/reference.md');
});

test('docs/reference.md has each variable of the program', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join('src', name), 'utf8'))
    .join();
  const variables = new Set([...sources.matchAll(/'(CQBATCH_[A-Z_]+)'/g)].map(([, name = '']) => name));
  expect(variables.size).toBeGreaterThan(3);
  expect([...variables].filter((name) => !reference.includes(name))).toEqual([]);
});

test('docs/exit-codes.md has a line for each exit code', () => {
  const lines = readFileSync('docs/exit-codes.md', 'utf8').matchAll(/^\| (\d+) \| .+ \|$/gm);
  expect([...lines].map(([, code]) => Number(code))).toEqual(Object.values(exitCodes));
});
