import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fieldOptions } from '../../jobs/index.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { codeFacts, rowCodes } from '../../src/codes.ts';
import type { Setting } from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/setting-table.ts';
import {
  type FlagName,
  flagOf,
  nameInWords,
  type SettingName,
  variableOf,
} from '../../src/settings/settings.ts';

/** A Markdown table. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const inCode = (text: string) => `\`${text}\``;

function settingRow([name, setting]: [string, Setting]): readonly string[] {
  const flags = setting.noFlag ? '' : inCode(flagOf(name as FlagName).flags);
  const variables = [
    variableOf(name as SettingName),
    ...(setting.orVariable === undefined ? [] : [setting.orVariable]),
  ];
  const usual = setting.default === undefined ? (setting.otherwise ?? '') : inCode(setting.default);
  return [inCode(nameInWords(name, '_')), flags, variables.map(inCode).join(', '), setting.help, usual];
}

const reference = `# Reference

This page is made from the tables in the code. A test keeps it current: \`npm test -- test/examples/reference.test.ts -u\` writes it again.

## Settings

A setting may come from a flag, from an environment variable or from \`config.json\` in the state folder (\`.cqbatch/config.json\`). A flag
wins over the environment, and the environment over the file.

${table(['key in config.json', 'flag', 'variable', 'meaning', 'default'], Object.entries<Setting>(settings).map(settingRow))}

Fields of an operation may have a setting of their own:

${table(
  ['key in config.json', 'flag', 'meaning'],
  fieldOptions.map(({ name }) => [
    inCode(name),
    inCode(`--${nameInWords(name, '-')}`),
    `Short for ${inCode(`--default ${name}=…`)}.`,
  ]),
)}

## Codes

Each row of \`report.csv\` has one of these codes in the column \`_code\`, or the HTTP status of an answer that says nothing else
(\`HTTP_418\`). A row with an unclear code may have been processed.

${table(
  ['code', 'meaning', 'what to do', 'unclear'],
  rowCodes.map((code) => {
    const { meaning, remedy = '', unclear } = codeFacts(code);
    return [inCode(code), meaning, remedy, unclear ? 'yes' : ''];
  }),
)}
`;

test('docs/reference.md says what the tables in the code say', async () => {
  await expect(reference).toMatchFileSnapshot('../../docs/reference.md');
});

test('docs/exit-codes.md has a line for each exit code', () => {
  const lines = readFileSync('docs/exit-codes.md', 'utf8').matchAll(/^\| (\d+) \| .+ \|$/gm);
  expect([...lines].map(([, code]) => Number(code))).toEqual(Object.values(exitCodes));
});
