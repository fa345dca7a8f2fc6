import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ApiError, createClient, type RestoreEvaluationInput, type TypedClient } from '../../src/index.ts';
import { httpServer, type LocalServer } from '../engine/api/local-server.ts';

async function answering(body: string, status = 200): Promise<{ client: TypedClient; server: LocalServer }> {
  const server = await httpServer((response) => response.writeHead(status).end(body));
  const client = createClient({ baseUrl: server.url, token: 'secret-token' });
  onTestFinished(() => client.close());
  return { client, server };
}

describe('restoreEvaluation', () => {
  test.each(['9223372036854775807', 9223372036854775807n])(
    'sends %o exactly and returns the evaluation',
    async (id) => {
      const { client, server } = await answering(
        '{"evaluation":{"evaluation_id":9223372036854775807,"score":1.5,"deleted_at":null,"evaluation_sections":[{"section_id":5}]}}',
      );
      const evaluation = await client.restoreEvaluation({ evaluationId: id, userId: 'u "1"\u0000😀' });
      expect(evaluation).toEqual({
        evaluationId: 9223372036854775807n,
        score: 1.5,
        evaluationSections: [{ sectionId: 5n }],
      });
      expect(server.seen[0]).toMatchObject({
        path: '/api/v1alpha1/scorecards/scorecards/restoreevaluation',
        body: '{"evaluation_id":"9223372036854775807","user_id":"u \\"1\\"\\u0000😀"}',
      });
    },
  );

  test.each([
    ['is about another one', '{"evaluation":{"evaluation_id":6}}', 'ANSWER_ID_MISMATCH'],
    ['has no evaluation', '{}', 'ANSWER_INCOMPLETE'],
  ])('rejects when the answer %s', async (_, body, code) => {
    const { client } = await answering(body);
    const restoring = client.restoreEvaluation({ evaluationId: 5, userId: 'u' });
    await expect(restoring).rejects.toBeInstanceOf(ApiError);
    await expect(restoring).rejects.toMatchObject({
      failure: { class: 'permanent', code, status: 200, unclear: true },
    });
  });

  test('rejects with the failure, without the token', async () => {
    const { client } = await answering('{"code":5,"message":"no such evaluation (secret-token)"}', 404);
    const restoring = client.restoreEvaluation({ evaluationId: 5, userId: 'u' });
    const error = await restoring.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      message: 'NOT_FOUND: no such evaluation ([token])',
      failure: { class: 'permanent', code: 'NOT_FOUND', status: 404 },
    });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('secret-token');
  });

  test.each([0, 2 ** 53, '9223372036854775808'])('sends nothing for the id %o', async (id) => {
    const { client, server } = await answering('{}');
    await expect(client.restoreEvaluation({ evaluationId: id, userId: 'u' })).rejects.toThrow(RangeError);
    expect(server.seen).toHaveLength(0);
  });

  test.each<[string, object, RegExp]>([
    ['no user', {}, /^userId must be text$/],
    ['a user that is not text', { userId: 5 }, /^userId must be text$/],
    ['an unknown field', { userId: 'u', reason: 'x' }, /^reason is not a field: use evaluationId, userId$/],
  ])('sends nothing for %s', async (_title, fields, message) => {
    const { client, server } = await answering('{}');
    const input = { evaluationId: 5, ...fields } as RestoreEvaluationInput;
    await expect(client.restoreEvaluation(input)).rejects.toThrow(message);
    expect(server.seen).toHaveLength(0);
  });
});

describe('updateSoundboard', () => {
  test('sends the given fields in the order of the document and returns the id', async () => {
    const { client, server } = await answering('{"soundboardId":"9007199254740993"}');
    const answer = await client.updateSoundboard({
      recordingLength: 0,
      fileSize: 9223372036854775807n,
      lastModified: 'm',
      dateCreated: 'c',
      description: '',
      title: 't\ud800',
      fileType: 'RECORDING_FILE_TYPE_NEW',
      fileName: 'a.wav',
      soundboardId: '9007199254740993',
    });
    expect(answer).toEqual({ soundboardId: 9007199254740993n });
    expect(server.seen[0]).toMatchObject({
      path: '/api/v1alpha1/org/soundboard/update',
      body:
        '{"soundboard":{"soundboard_id":"9007199254740993","file_name":"a.wav","file_type":"RECORDING_FILE_TYPE_NEW",' +
        '"title":"t\\ud800","description":"","date_created":"c","last_modified":"m","file_size":"9223372036854775807","recording_length":0}}',
    });
  });

  test.each<[string, object, RegExp]>([
    ['changes nothing', {}, /changes nothing: give at least one field/],
    ['has an unknown field', { titel: 'x' }, /^titel is not a field: use soundboardId, f/],
    ['has a text that is not a string', { title: null }, /^title must be text$/],
  ])('sends nothing when the update %s', async (_title, fields, message) => {
    const { client, server } = await answering('{"soundboard_id":5}');
    await expect(client.updateSoundboard({ soundboardId: 5, ...fields })).rejects.toThrow(message);
    expect(server.seen).toEqual([]);
  });
});
