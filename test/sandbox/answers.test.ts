import { describe, expect, test } from 'vitest';
import { type Answer, restore, restorePath, send, start, update, updatePath } from './client.ts';

/** The last entry of the log. */
const last = (entries: Iterable<unknown>): unknown => [...entries].at(-1);

describe('restoring an evaluation', () => {
  test('answers with the whole evaluation, no longer deleted, and is refused a second time', async () => {
    const sandbox = await start();
    expect(sandbox.evaluation(3)).toHaveProperty('deleted_at');
    const { status, headers, body } = await restore(sandbox, 3);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(body).toEqual({ evaluation: sandbox.evaluation(3) });
    expect(sandbox.evaluation(3)).not.toHaveProperty('deleted_at');
    const refusal = { code: 9, message: 'evaluation 3 is not deleted', details: [] };
    expect(await restore(sandbox, 3)).toMatchObject({ status: 400, body: refusal });
    const entry = { code: 'FAILED_PRECONDITION', committed: false, nth: 2 };
    expect(last(await sandbox.log())).toMatchObject(entry);
  });
});

test('what is unknown is 404', async () => {
  const sandbox = await start({ soundboards: 3 });
  const unknown = { status: 404, body: { code: 5, message: 'soundboard 4 was not found' } };
  expect(await update(sandbox, { soundboard_id: 4, title: 'New' })).toMatchObject(unknown);
});

describe('a bad body is 400 INVALID_ARGUMENT', () => {
  test.each([
    [restorePath, '', 'the body is not JSON'],
    [restorePath, '{}', 'evaluation_id: '],
    [restorePath, '{"evaluation_id":1.5}', 'evaluation_id: '],
    [restorePath, '{"evaluation_id":9223372036854775808}', 'evaluation_id: '],
    [restorePath, '{"evaluation_id":1,"user":"x"}', 'Unrecognized key: \\"user\\"'],
    [updatePath, '{"soundboard":[]}', 'soundboard: '],
    [updatePath, '{"soundboard":{"soundboard_id":1,"title":5}}', 'soundboard: title: '],
    [updatePath, '{"soundboard":{"soundboard_id":1,"file_size":-1}}', 'soundboard: file_size: '],
    [updatePath, '{"soundboard":{"soundboard_id":1,"__proto__":{}}}', 'soundboard: Unrecognized key'],
  ])('%s %s', async (path, body, message) => {
    const sandbox = await start();
    const answer = await send(sandbox, path, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 3 });
    expect(answer.text).toContain(message);
    const entry = { id: null, nth: null, code: 'INVALID_ARGUMENT', committed: false };
    expect(last(await sandbox.log())).toMatchObject(entry);
  });

  test('even when it is not UTF-8', async () => {
    const sandbox = await start();
    const { status, body } = await send(sandbox, restorePath, Uint8Array.of(0x22, 0xff, 0x22));
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 3, message: 'the body is not UTF-8' });
  });
});

test.each(['application/json; charset=utf-8', 'Application/JSON'])(
  'the content type may be %s',
  async (contentType) => {
    const sandbox = await start();
    expect((await restore(sandbox, 1, { contentType })).status).toBe(200);
  },
);

describe('the token', () => {
  const unauthenticated = (answer: Answer): void => {
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.body).toMatchObject({ code: 16 });
  };

  test.each([null, 'wrong', 'sandbox-token2'])('%s gets a 401', async (token) => {
    const sandbox = await start();
    unauthenticated(await restore(sandbox, 1, { token }));
    expect(last(await sandbox.log())).toMatchObject({ id: '1', nth: null, status: 401, committed: false });
  });

  test('is the one in the option, with the scheme in any case', async () => {
    const sandbox = await start({ token: 'other' });
    const response = await fetch(sandbox.url + restorePath, {
      method: 'POST',
      headers: { authorization: 'bearer other', 'content-type': 'application/json' },
      body: '{"evaluation_id":1}',
    });
    expect(response.status).toBe(200);
  });
});
