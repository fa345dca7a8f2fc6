import { describe, expect, test } from 'vitest';
import { type Request, restore, restorePath, send, start, update, updatePath } from './client.ts';

const unset = '0001-01-01T00:00:00Z';
const typeUrl = (name: string): string => `type.googleapis.com/google.rpc.${name}`;

describe('gateway', () => {
  const shape = 'gateway';

  test('answers with camelCase, 64-bit integers as strings, and all zero values', async () => {
    const sandbox = await start({ shape });
    const before = sandbox.evaluation(1);
    const { status, body } = await restore(sandbox, 1);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      evaluation: {
        evaluationId: '1',
        scorecardId: String(before?.['scorecard_id']),
        score: before?.['score'],
        evaluationState: 'EVALUATION_IN_PROGRESS',
        channelType: 'CHANNEL_TYPE_EMAIL',
        completedAt: before?.['completed_at'],
        deletedAt: unset,
        deletedBy: '',
        isRecoverable: true,
        callMetadata: { callType: 'INBOUND' },
        conversationMetadata: null,
      },
    });
    const { evaluation } = body as { evaluation: { evaluationSections: unknown[] } };
    expect(evaluation.evaluationSections[0]).toMatchObject({ deletedAt: unset, skipped: false });
    expect(Object.keys(evaluation)).toHaveLength(18);
  });

  test('names what is wrong in details', async () => {
    const sandbox = await start({ shape, limit: 'fixed-window:limit=3,window=24h,align=first' });
    await restore(sandbox, 1);
    const notDeleted = { reason: 'EVALUATION_NOT_DELETED', domain: 'callquality.example' };
    expect((await restore(sandbox, 1)).body).toEqual({
      code: 9,
      message: 'evaluation 1 is not deleted',
      details: [{ '@type': typeUrl('ErrorInfo'), ...notDeleted }],
    });
    const badSize = { '@type': typeUrl('BadRequest'), fieldViolations: [{ field: 'soundboard.file_size' }] };
    const refused = await update(sandbox, { soundboardId: 1, fileSize: -1 });
    expect(refused).toMatchObject({ status: 400, body: { code: 3, details: [badSize] } });
    const { status, headers, body } = await restore(sandbox, 2);
    expect(status).toBe(429);
    expect(body).toMatchObject({
      code: 8,
      details: [{ '@type': typeUrl('RetryInfo'), retryDelay: expect.stringMatching(/^\d+(\.\d{3})?s$/) }],
    });
    expect(headers.get('retry-after')).toBeNull();
    expect(headers.get('grpc-metadata-retry-after')).toMatch(/^\d+$/);
  });
});

describe('connect', () => {
  const shape = 'connect';

  test('leaves zero values out', async () => {
    const sandbox = await start({ shape });
    const { evaluation } = (await restore(sandbox, 1)).body as { evaluation: Record<string, unknown> };
    expect(evaluation).toMatchObject({ evaluationId: '1', isRecoverable: true });
    for (const name of ['evaluationState', 'channelType', 'deletedAt', 'deletedBy', 'conversationMetadata'])
      expect(evaluation).not.toHaveProperty(name);
    expect((await update(sandbox, { soundboardId: '3', title: 'x' })).text).toBe('{"soundboardId":"3"}');
  });

  test('names codes, and sends details as bytes in base64 with their JSON', async () => {
    const sandbox = await start({ shape, fault: '503-retry-after=100%' });
    expect((await restore(sandbox, 1)).body).toEqual({
      code: 'unavailable',
      message: 'the service is being restarted',
      details: [{ type: 'google.rpc.RetryInfo', value: 'CgIIAQ', debug: { retryDelay: '1s' } }],
    });
    sandbox.configure({ fault: '500=100%' });
    expect((await restore(sandbox, 1)).text).toBe('{"code":"internal","message":"internal error"}');
    sandbox.configure({ fault: 'none' });
    await restore(sandbox, 1);
    const notDeleted = {
      type: 'google.rpc.ErrorInfo',
      value: 'ChZFVkFMVUFUSU9OX05PVF9ERUxFVEVEEhNjYWxscXVhbGl0eS5leGFtcGxl',
      debug: { reason: 'EVALUATION_NOT_DELETED', domain: 'callquality.example' },
    };
    const message = 'evaluation 1 is not deleted';
    const refusal = { code: 'failed_precondition', message, details: [notDeleted] };
    expect((await restore(sandbox, 1)).body).toEqual(refusal);
  });
});

const nothingAt = (path: string): string =>
  `{"code":5,"message":"there is nothing at POST ${path}","details":[]}`;
const notJson = '{"code":3,"message":"the header Content-Type must be application/json","details":[]}';
const notAllowed = '{"code":12,"message":"Method Not Allowed","details":[]}';

test.each<[shape: string, sent: Request, path: string, status: number, text: string, header: object]>([
  ['gateway', { method: 'GET' }, restorePath, 501, notAllowed, { 'content-type': 'application/json' }],
  ['connect', {}, '/nothing', 404, '', { 'content-type': null }],
  ['connect', { method: 'GET' }, restorePath, 405, '', { allow: 'POST' }],
  ['document', {}, '/%zz', 404, nothingAt('/%zz'), { 'content-type': 'application/json' }],
  ['document', { contentType: 'application/jsonp' }, restorePath, 415, notJson, {}],
])('the router of %s answers %j to %s with %i', async (shape, sent, path, status, text, header) => {
  const sandbox = await start({ shape });
  const { method = 'POST' } = sent;
  const answer = await send(sandbox, path, method === 'POST' ? '{}' : undefined, sent);
  expect(answer).toMatchObject({ status, text });
  expect((await sandbox.log()).at(-1)).toMatchObject({ status, committed: false });
  for (const [name, value] of Object.entries(header)) expect(answer.headers.get(name)).toBe(value);
});

describe.each(['gateway', 'connect'])('requests of %s', (shape) => {
  test.each<[string, object, object]>([
    ['names in camelCase', { soundboardId: '3', fileName: 'a.wav' }, { file_name: 'a.wav' }],
    ['unknown fields', { soundboardId: 3, title: 'New', titel: 'x', __proto: 1 }, { title: 'New' }],
    ['a file type by its number', { soundboardId: 3, fileType: 1 }, { file_type: 'RECORDING_FILE_TYPE_MP3' }],
    [
      'a time with an offset',
      { soundboardId: 3, dateCreated: '2026-01-02T03:04:05.5+01:00' },
      { date_created: '2026-01-02T03:04:05.5+01:00' },
    ],
  ])('may have %s', async (_, soundboard, changed) => {
    const sandbox = await start({ shape });
    const before = sandbox.soundboard(3);
    expect((await update(sandbox, { ...soundboard })).status).toBe(200);
    const { last_modified } = sandbox.soundboard(3) ?? {};
    expect(sandbox.soundboard(3)).toEqual({ ...before, ...changed, last_modified });
  });

  test.each(['02.01.2026', ''])('have no time %j', async (dateCreated) => {
    const sandbox = await start({ shape });
    const { status, text } = await update(sandbox, { soundboardId: 3, dateCreated });
    expect(status).toBe(400);
    expect(text).toContain('soundboard.date_created');
  });

  test.each(['[]', 'null', '{}', '{"soundboard":null}', '{"soundboard":{"soundboardId":"0"}}'])(
    'need an identifier: %s',
    async (body) => {
      const sandbox = await start({ shape });
      expect((await send(sandbox, updatePath, body)).status).toBe(400);
    },
  );
});

describe('the wait of a refusal', () => {
  const limit = 'fixed-window:limit=1,window=24h,align=first';
  test.each<[string, string, string | null, boolean]>([
    ['document', 'header', 'retry-after', false],
    ['document', 'details', null, false],
    ['gateway', 'header', 'grpc-metadata-retry-after', true],
    ['gateway', 'details', null, true],
    ['connect', 'header', 'retry-after', true],
    ['connect', 'details', null, true],
    ['connect', 'none', null, false],
  ])('in %s with --retry-after %s', async (shape, retryAfter, header, isInDetails) => {
    const sandbox = await start({ shape, limit, retryAfter });
    await restore(sandbox, 1);
    const { status, headers, text } = await restore(sandbox, 2);
    expect(status).toBe(429);
    expect([...headers.keys()].find((name) => name.endsWith('retry-after')) ?? null).toBe(header);
    expect(text.includes('RetryInfo')).toBe(isInDetails);
  });
});
