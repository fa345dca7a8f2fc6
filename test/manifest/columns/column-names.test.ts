import { expect, test } from 'vitest';
import { fieldNameOf, operationNameOf } from '../../../src/manifest/columns/column-names.ts';

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
