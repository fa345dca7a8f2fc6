import { expect, test } from 'vitest';
import {
  likelyColumns,
  mapOption,
  resembledField,
} from '../../../../src/engine/manifest/columns/column-advice.ts';
import { testOperations } from '../operations.ts';

const fields = ['evaluation_id', 'user_id', 'title', 'file_name', 'file_size'];

test.each<[header: string, field: string | undefined]>([
  ['titel', 'title'],
  ['evaluationid', 'evaluation_id'],
  ['File Sise', 'file_size'],
  ['id', undefined],
  ['reason', undefined],
  ['', undefined],
])('%j resembles %s', (header, field) => {
  expect(resembledField(header, fields)).toBe(field);
});

test.each<[missing: readonly string[], columns: readonly string[], found: Readonly<Record<string, string>>]>([
  [['evaluation_id'], ['evaluationid', 'id'], { evaluation_id: 'evaluationid' }],
  [['evaluation_id'], ['Bewertungs-ID', 'Notiz'], { evaluation_id: 'Bewertungs-ID' }],
  [['evaluation_id'], ['Agent ID', 'Team-Nr'], {}],
  [['evaluation_id', 'user_id'], ['User', 'ID'], { evaluation_id: 'ID', user_id: 'User' }],
  [['evaluation_id', 'user_id'], ['ID'], { evaluation_id: 'ID' }],
  // Another person, and a title that can't be typed.
  [['user_id'], ['agent_user_id'], {}],
  [['evaluation_id'], ['evaluation\u200b_no'], {}],
])('for %j of %j it suggests %j', (missing, columns, found) => {
  const sample = [Object.fromEntries(columns.map((column) => [column, '1']))];
  const open = missing.map((name) => ({ name, accepts: () => true }));
  expect(Object.fromEntries(likelyColumns(open, columns, { subject: 'evaluation_id', sample }))).toEqual(
    found,
  );
});

test.each([
  ['Evaluation\nnumber ', '--map "Evaluation number=evaluation_id"'],
  ['$HOME "x"', `--map '$HOME "x"=evaluation_id'`],
  ["it's $5", `--map 'it'\\''s $5=evaluation_id'`],
])('the option for a column %j can be pasted', (column, option) => {
  expect(mapOption(column, 'evaluation_id')).toBe(option);
});

test.each([
  ['1', { ticket_id: 'ticket' }],
  ['n/a', {}],
])('a column whose values are %j is suggested only if these fit the field', (value, found) => {
  const [{ fields, subject }] = testOperations;
  const likely = likelyColumns(fields, ['ticket'], { subject, sample: [{ ticket: value }] });
  expect(Object.fromEntries(likely)).toEqual(found);
});
