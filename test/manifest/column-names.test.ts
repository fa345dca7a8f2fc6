import { expect, test } from 'vitest';
import { fieldNameOf, operationNameOf, resembledField } from '../../src/manifest/column-names.ts';

test.each([
  'evaluation_id',
  'Evaluation ID',
  'evaluationId',
  'EVALUATION_ID',
  'evaluation-id',
  ' Evaluation  Id ',
  'EvaluationID',
  'evaluation.id',
  'Evaluation\u00a0ID',
  'ｅｖａｌｕａｔｉｏｎ＿ｉｄ',
])('%j stands for evaluation_id', (header) => {
  expect(fieldNameOf(header)).toBe('evaluation_id');
});

test.each(['evaluationid', 'evaluation_ids', 'my evaluation id', 'EVALUATIONID'])(
  '%j does not stand for evaluation_id',
  (header) => {
    expect(fieldNameOf(header)).not.toBe('evaluation_id');
  },
);

test.each([
  'restore-evaluation',
  'Restore Evaluation',
  'restore_evaluation',
  'restoreEvaluation',
  'RESTORE-EVALUATION',
])('%j names restore-evaluation', (text) => {
  expect(operationNameOf(text)).toBe('restore-evaluation');
});

const fields = ['evaluation_id', 'user_id', 'title', 'file_name', 'file_size'];

test.each<[header: string, field: string | undefined]>([
  ['titel', 'title'],
  ['tite', 'title'],
  ['Titles', 'title'],
  ['evaluationid', 'evaluation_id'],
  ['evalution_id', 'evaluation_id'],
  ['evaluation id no', 'evaluation_id'],
  ['userid', 'user_id'],
  ['used id', 'user_id'],
  ['Filename', 'file_name'],
  ['File Sise', 'file_size'],
  ['note', undefined],
  ['tilt', undefined],
  ['id', undefined],
  ['file', undefined],
  ['reason', undefined],
  ['', undefined],
])('%j resembles %s', (header, field) => {
  expect(resembledField(header, fields)).toBe(field);
});
