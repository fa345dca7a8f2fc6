import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { FailureClass } from '../../src/domain/code-table.ts';
import { resultColumns } from '../../src/domain/row-result.ts';
import { checkVerdicts, outcomes } from '../../src/domain/terms.ts';
import type { LeftOut } from '../../src/engine/rows/row.ts';
import { leftOutSchema } from '../../src/engine/rows/row-line.ts';

const report = readFileSync('docs/report.md', 'utf8');

/** The names in code in a text. */
const names = (text = ''): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** The first cells of the lines of a table, which stands below its head. */
function firstCells(page: string, head: string): readonly string[] {
  const [, table = ''] = page.split(`${head}\n|---|---|\n`);
  return [...table.slice(0, table.search(/\n(?!\|)/)).matchAll(/^\| (.+?) \|/gm)].map(
    ([, cell = '']) => cell,
  );
}

test('docs/report.md names each column of report.csv', () => {
  const columns = firstCells(report, '| column | meaning |').flatMap(names);
  expect(columns.toSorted()).toEqual(resultColumns.map(([name]) => `_${name}`).toSorted());
});

test('docs/report.md names each outcome', () => {
  expect(names(/^\| `_outcome` \| (.*) \|$/m.exec(report)?.[1])).toEqual([...outcomes]);
});

test('docs/report.md says what each verdict of a check means', () => {
  expect(firstCells(report, '| `_check` | the entry |').flatMap(names)).toEqual([...checkVerdicts]);
});

test('docs/report.md shows why rows are left out as rows.jsonl has it', () => {
  const shown = [...report.matchAll(/`(\{"why".*?\})`/g)].map(([, text = '']) => JSON.parse(text));
  for (const why of shown) expect(leftOutSchema.safeParse(why).error).toBeUndefined();
  const reasons = { duplicate: true, superseded: true, 'as wanted': true, done: true } as const;
  const all = reasons satisfies Readonly<Record<LeftOut['why'], true>>;
  expect(shown.map(({ why }) => why)).toEqual(Object.keys(all));
});

test('docs/api-client.md says what to do about each class of failures', () => {
  const page = readFileSync('docs/api-client.md', 'utf8');
  const retried = { retry: true, unreachable: true, 'slow-down': true } as const;
  const given = { permanent: true, halt: true, 'halt-early': true, aborted: true } as const;
  const classes = { ...retried, ...given } satisfies Readonly<Record<FailureClass, true>>;
  expect(firstCells(page, '| class | what to do |').flatMap(names)).toEqual(Object.keys(classes));
});
