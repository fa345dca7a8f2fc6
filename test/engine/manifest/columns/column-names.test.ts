import { expect, test } from 'vitest';
import { fieldNamer } from '../../../../src/engine/manifest/columns/column-names.ts';
import { fieldNameOf } from '../../../../src/engine/operation/field-names.ts';
import { prepareAll, testOperations } from '../operations.ts';

test.each([
  ...['Evaluation ID', 'evaluationId', 'EVALUATION_ID', 'evaluation-id', ' Evaluation  Id ', 'EvaluationID'],
  ...['\ufeffEvaluation\u00ad\u00a0ID\u200e \u2069', 'ｅｖａｌｕａｔｉｏｎ＿ｉｄ'],
])('%j stands for evaluation_id', (header) => {
  expect(fieldNameOf(header)).toBe('evaluation_id');
});

test.each(['evaluationid', 'evaluation_ids', 'my evaluation id'])('%j does not', (header) => {
  expect(fieldNameOf(header)).not.toBe('evaluation_id');
});

test('a column stands for the field in the map, however its title is written', () => {
  const fieldOf = fieldNamer({ 'Room no': 'Room ID' }, testOperations);
  const fields = ['room_id', 'room_id', 'title', 'note'];
  expect(['ROOM NO', 'roomNo', 'Title', 'note'].map(fieldOf)).toEqual(fields);
});

test('a map for an unknown field is refused', () => {
  expect(() => fieldNamer({ ID: 'roomid' }, testOperations)).toThrow(
    '--map "ID=roomid": roomid is not a field; use one of operation, ',
  );
});

test('a column that is mapped and one with the title of the field clash', async () => {
  await expect(prepareAll('Nr,room_id\n1,2\n', { map: { Nr: 'room_id' } })).rejects.toThrow(
    'a: columns "Nr" and "room_id" both stand for room_id; rename or delete one',
  );
});
