import { expect, test } from 'vitest';
import { restoreEvaluation } from '../../jobs/restore-evaluation.ts';
import { updateSoundboard } from '../../jobs/update-soundboard.ts';
import { parseJson } from '../../src/base/text/json.ts';

test('a restore lists deleted evaluations, in pages', () => {
  const request = restoreEvaluation.list?.request;
  expect(request?.(undefined)).toEqual({
    path: '/api/v1alpha1/scorecards/scorecards/listevaluations',
    body: '{"is_deleted":true,"page_size":500}',
  });
  expect(request?.('a"b')).toMatchObject({
    body: '{"is_deleted":true,"page_size":500,"page_token":"a\\"b"}',
  });
});

test.each([
  {
    shape: 'the interface document',
    text: '{"evaluation_id":9007199254740993,"deleted_by":"u-17","deleted_at":"2026-11-25T14:00:00Z","score":87.5,"is_recoverable":true,"call_sid":0,"call_metadata":{"call_sid":77}}',
  },
  {
    shape: 'a gateway',
    text: '{"evaluationId":"9007199254740993","deletedBy":"u-17","deletedAt":"2026-11-25T14:00:00Z","score":87.5,"isRecoverable":true,"completedAt":"0001-01-01T00:00:00Z","callMetadata":{"callSid":"77"}}',
  },
])('a deleted evaluation is read in the shape of $shape', ({ text }) => {
  expect(restoreEvaluation.list?.read(parseJson(text))).toEqual({
    id: '9007199254740993',
    fields: { evaluation_id: '9007199254740993' },
    columns: {
      deleted_by: 'u-17',
      deleted_at: '2026-11-25T14:00:00Z',
      is_recoverable: 'true',
      score: '87.5',
      call_sid: '77',
    },
  });
});

test.each([
  { entry: '{"evaluation_id":1,"is_recoverable":false}', unfit: 'is not recoverable' },
  { entry: '{"evaluation_id":1}', unfit: undefined },
])('$entry fits a restore: $unfit', ({ entry, unfit }) => {
  expect(restoreEvaluation.list?.read(parseJson(entry))?.unfit).toBe(unfit);
});

test('an update lists whole soundboard entries, whose zero values may be left out', () => {
  expect(updateSoundboard.list?.request(undefined)).toEqual({
    path: '/api/v1alpha1/org/soundboard/list',
    body: '{}',
  });
  const text =
    '{"soundboardId":"9007199254740993","fileName":"a.wav","title":"","dateCreated":"2026-01-01T00:00:00Z","lastModified":null,"fileSize":"0"}';
  expect(updateSoundboard.list?.read(parseJson(text))).toEqual({
    id: '9007199254740993',
    fields: {
      soundboard_id: '9007199254740993',
      file_name: 'a.wav',
      date_created: '2026-01-01T00:00:00Z',
      file_size: '0',
      file_type: 'RECORDING_FILE_TYPE_WAV',
    },
    columns: {},
  });
  expect(updateSoundboard.list?.permission).toBe('PERMISSION_SOUNDBOARD_VIEW');
});

test('a restored evaluation is listed without the deleted ones, or read alone', () => {
  const done = restoreEvaluation.list?.done;
  expect(done?.list).toMatchObject({ name: 'evaluations', entries: 'evaluations', next: 'next_page_token' });
  expect(done?.list.request('x')).toEqual({
    path: '/api/v1alpha1/scorecards/scorecards/listevaluations',
    body: '{"is_deleted":false,"page_size":500,"page_token":"x"}',
  });
  expect(done?.one('9007199254740993')).toEqual({
    path: '/api/v1alpha1/scorecards/scorecards/getevaluation',
    body: '{"evaluation_id":"9007199254740993"}',
  });
});

test.each([
  { answer: '{"evaluation":{"evaluation_id":7}}', what: undefined },
  { answer: '{"evaluation":{"evaluationId":"7","deletedAt":null}}', what: undefined },
  {
    answer: '{"evaluation":{"evaluation_id":7,"deleted_at":"2026-11-25T14:00:00Z"}}',
    what: expect.stringContaining('still deleted'),
  },
  { answer: '{"evaluation":{"evaluation_id":8}}', what: expect.stringContaining('8') },
  { answer: '{}', what: expect.any(String) },
])('$answer differs from the restored evaluation 7: $what', ({ answer, what }) => {
  expect(restoreEvaluation.list?.done?.differs(parseJson(answer), '7')).toEqual(what);
});
