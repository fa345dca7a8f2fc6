import { expect, test } from 'vitest';
import {
  likelyColumns,
  mapOption,
  resembledField,
} from '../../../../src/engine/manifest/columns/column-advice.ts';
import { testOperations } from '../operations.ts';

const fields = ['evaluation_id', 'user_id', 'title', 'file_name', 'file_size'];

test.each<{ header: string; field: string | undefined }>([
  { header: 'titel', field: 'title' },
  { header: 'evaluationid', field: 'evaluation_id' },
  { header: 'File Sise', field: 'file_size' },
  { header: 'id', field: undefined },
  { header: 'reason', field: undefined },
  { header: '', field: undefined },
])('"$header" resembles $field', ({ header, field }) => {
  expect(resembledField(header, fields)).toBe(field);
});

interface Likely {
  readonly missing: readonly string[];
  readonly columns: readonly string[];
  readonly suggested: Readonly<Record<string, string>>;
}

test.each<Likely>([
  {
    missing: ['evaluation_id'],
    columns: ['evaluationid', 'id'],
    suggested: { evaluation_id: 'evaluationid' },
  },
  {
    missing: ['evaluation_id'],
    columns: ['Bewertungs-ID', 'Notiz'],
    suggested: { evaluation_id: 'Bewertungs-ID' },
  },
  { missing: ['evaluation_id'], columns: ['Agent ID', 'Team-Nr'], suggested: {} },
  {
    missing: ['evaluation_id', 'user_id'],
    columns: ['User', 'ID'],
    suggested: { evaluation_id: 'ID', user_id: 'User' },
  },
  { missing: ['evaluation_id', 'user_id'], columns: ['ID'], suggested: { evaluation_id: 'ID' } },
  // Another person.
  { missing: ['user_id'], columns: ['agent_user_id'], suggested: {} },
  // A title that can't be typed.
  { missing: ['evaluation_id'], columns: ['evaluation\u200b_no'], suggested: {} },
])('for $missing, the columns $columns suggest $suggested', ({ missing, columns, suggested }) => {
  const sample = [Object.fromEntries(columns.map((column) => [column, '1']))];
  const open = missing.map((name) => ({ name, accepts: () => true }));
  const likely = likelyColumns(open, columns, { subject: 'evaluation_id', sample });
  expect(Object.fromEntries(likely)).toEqual(suggested);
});

test.each([
  { column: 'Evaluation\nnumber ', option: '--map "Evaluation number=evaluation_id"' },
  { column: '$HOME "x"', option: `--map '$HOME "x"=evaluation_id'` },
  { column: "it's $5", option: `--map 'it'\\''s $5=evaluation_id'` },
])('the option for a column $column can be pasted', ({ column, option }) => {
  expect(mapOption(column, 'evaluation_id')).toBe(option);
});

test.each([
  { value: '1', suggested: { ticket_id: 'ticket' } },
  { value: 'n/a', suggested: {} },
])('a column with the value $value is suggested only if that fits the field', ({ value, suggested }) => {
  const [{ fields, subject }] = testOperations;
  const likely = likelyColumns(fields, ['ticket'], { subject, sample: [{ ticket: value }] });
  expect(Object.fromEntries(likely)).toEqual(suggested);
});
