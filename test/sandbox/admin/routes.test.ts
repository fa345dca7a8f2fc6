import { describe, expect, test } from 'vitest';
import { admin, lines, restore, send, start, update } from '../client.ts';

describe('the log', () => {
  test('has every request as a line of JSON, in the order of arrival', async () => {
    const sandbox = await start({ logBody: 'text' });
    await restore(sandbox, 1);
    await update(sandbox, { soundboard_id: 2, title: 'x' });
    await send(sandbox, '/nowhere', undefined, { method: 'GET' });
    const { status, headers, text } = await admin(sandbox, '/log');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(lines(text)).toEqual([
      {
        seq: 1,
        time,
        operation: 'restore-evaluation',
        id: '1',
        nth: 1,
        user_id: 'tester',
        body: '{"evaluation_id":1,"user_id":"tester"}',
        status: 200,
        code: 'OK',
        committed: true,
        fault: null,
        throttled: false,
      },
      {
        seq: 2,
        time,
        operation: 'update-soundboard',
        id: '2',
        nth: 1,
        user_id: null,
        body: '{"soundboard":{"soundboard_id":2,"title":"x"}}',
        status: 200,
        code: 'OK',
        committed: true,
        fault: null,
        throttled: false,
      },
      {
        seq: 3,
        time,
        operation: null,
        target: 'GET /nowhere',
        id: null,
        nth: null,
        user_id: null,
        status: 404,
        code: 'NOT_FOUND',
        committed: false,
        fault: null,
        throttled: false,
      },
    ]);
    expect(lines(text)).toEqual([...sandbox.log()]);
  });

  test('can be read from a number on', async () => {
    const sandbox = await start();
    for (const id of [1, 2, 3]) await restore(sandbox, id);
    expect(lines((await admin(sandbox, '/log?after=2')).text)).toMatchObject([{ seq: 3, id: '3' }]);
    expect((await admin(sandbox, '/log?after=3')).text).toBe('');
  });

  test('does not list the admin side itself', async () => {
    const sandbox = await start();
    await admin(sandbox, '/stats');
    await admin(sandbox, '/nowhere');
    expect([...sandbox.log()]).toEqual([]);
  });
});

describe('the state', () => {
  test('is listed as lines of JSON, evaluations first', async () => {
    const sandbox = await start({ evaluations: 3, soundboards: 2, notDeleted: '0%' });
    await restore(sandbox, 2);
    await update(sandbox, { soundboard_id: 1, title: 'x' });
    const state = lines((await admin(sandbox, '/state')).text);
    expect(state).toMatchObject([
      { kind: 'evaluation', id: '1', changed: false, deleted: true, evaluation: { evaluation_id: 1 } },
      { kind: 'evaluation', id: '2', changed: true, deleted: false, restored_by: 'tester' },
      { kind: 'evaluation', id: '3', changed: false, deleted: true },
      { kind: 'soundboard', id: '1', changed: true, soundboard: { soundboard_id: 1, title: 'x' } },
      { kind: 'soundboard', id: '2', changed: false },
    ]);
    expect(state).toEqual([...sandbox.state()]);
  });

  test.each([
    ['?changed=true', ['evaluation 2', 'soundboard 1']],
    ['?kind=evaluation', ['evaluation 1', 'evaluation 2', 'evaluation 3']],
    ['?kind=soundboard&changed=true', ['soundboard 1']],
    ['?id=2', ['evaluation 2', 'soundboard 2']],
    ['?id=3&id=1&kind=evaluation', ['evaluation 3', 'evaluation 1']],
    ['?id=1&changed=true', ['soundboard 1']],
    ['?id=99', []],
  ])('%s', async (query, expected) => {
    const sandbox = await start({ evaluations: 3, soundboards: 2 });
    await restore(sandbox, 2);
    await update(sandbox, { soundboard_id: 1, title: 'x' });
    const state = lines((await admin(sandbox, `/state${query}`)).text) as { kind: string; id: string }[];
    expect(state.map(({ kind, id }) => `${kind} ${id}`)).toEqual(expected);
  });

  test('is in snake_case with integers as numbers, whatever the answers are', async () => {
    const sandbox = await start({ case: 'camel', integers: 'string' });
    await update(sandbox, { soundboard_id: 1, title: 'x' });
    expect(lines((await admin(sandbox, '/state?changed=true')).text)).toMatchObject([
      { soundboard: { soundboard_id: 1 } },
    ]);
  });
});

describe('the counts', () => {
  test('are those of the log and of the state', async () => {
    const sandbox = await start({ evaluations: 2 });
    for (const id of [1, 2, 3]) await restore(sandbox, id);
    await update(sandbox, { soundboard_id: 1, title: 'x' });
    expect((await admin(sandbox, '/stats')).body).toEqual({
      requests: 4,
      committed: 3,
      throttled: 0,
      by_operation: { 'restore-evaluation': 3, 'update-soundboard': 1 },
      by_status: { 200: 3, 404: 1 },
      by_code: { OK: 3, NOT_FOUND: 1 },
      by_fault: {},
      evaluations_restored: 2,
      soundboards_updated: 1,
      log_entries: 4,
    });
  });

  test('can be waited for', async () => {
    const sandbox = await start();
    const stats = admin(sandbox, '/stats?requests=2');
    await restore(sandbox, 1);
    await restore(sandbox, 2);
    expect((await stats).body).toMatchObject({ requests: 2 });
  });
});

describe('switches', () => {
  test('can be changed one by one, and are answered all', async () => {
    const sandbox = await start({ integers: 'string' });
    const { status, body } = await admin(sandbox, '/configure', { errorStyle: 'google', fault: '500=100%' });
    expect(status).toBe(200);
    expect(body).toEqual({
      errorStyle: 'google',
      integers: 'string',
      compress: 'none',
      case: 'snake',
      omitted: 'keep',
      notDeletedStatus: '400',
      retryAfter: 'header',
      limitHeaders: 'none',
      limitStatus: '429',
      latency: '0ms',
      limit: 'none',
      fault: '500=100%',
      slowBodyDelay: '5s',
      forbidden: false,
    });
    expect((await restore(sandbox, 1)).body).toMatchObject({ error: { code: 500, status: 'INTERNAL' } });
    await admin(sandbox, '/configure', { fault: 'none', forbidden: true });
    expect((await restore(sandbox, 1)).body).toMatchObject({ error: { code: 403 } });
  });

  test.each([
    [{ fault: 'flood=1%' }, '--fault: there is no fault flood'],
    [{ port: 80 }, 'there is no switch "port"'],
    [{ errorStyle: 'html', retryAfter: 'retry-info' }, '--retry-after retry-info needs'],
    ['{', 'the changes must be a JSON object'],
  ])('%j changes nothing and is 400', async (changes, message) => {
    const sandbox = await start();
    const { status, body } = await admin(sandbox, '/configure', changes);
    expect(status).toBe(400);
    expect(body).toEqual({ error: expect.stringContaining(message) });
    expect((await admin(sandbox, '/configure', {})).body).toMatchObject({ errorStyle: 'rpc', fault: 'none' });
  });
});

describe('the token', () => {
  test('can be replaced, and made to expire', async () => {
    const sandbox = await start();
    expect((await admin(sandbox, '/token', { token: 'fresh' })).status).toBe(200);
    expect((await restore(sandbox, 1)).status).toBe(401);
    expect((await restore(sandbox, 1, { token: 'fresh' })).status).toBe(200);
    await admin(sandbox, '/token', { token: null });
    expect((await restore(sandbox, 2, { token: 'fresh' })).status).toBe(401);
  });

  test('can be several', async () => {
    const sandbox = await start();
    await admin(sandbox, '/token', { token: 'one,two' });
    const tokens = ['one', 'two', 'one,two', sandbox.token];
    const answers = await Promise.all(tokens.map((token, index) => restore(sandbox, index + 1, { token })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 401]);
  });

  test.each([{}, { token: 5 }, { token: 'two words' }, { token: 'a', other: 1 }])(
    '%j is 400',
    async (body) => {
      const sandbox = await start();
      expect((await admin(sandbox, '/token', body)).status).toBe(400);
      expect((await restore(sandbox, 1)).status).toBe(200);
    },
  );
});

test('a reset undoes changes, empties the log, fills the bucket and counts requests anew', async () => {
  const sandbox = await start({ limit: 'token-bucket:rate=0.001,burst=2', fault: 'wrong-id=50%' });
  const calls = async (): Promise<unknown[]> => {
    for (const id of [1, 1, 1]) await restore(sandbox, id);
    return [...sandbox.log()].map(({ seq, time, ...entry }) => entry);
  };
  const first = await calls();
  expect((await admin(sandbox, '/reset', {})).status).toBe(200);
  expect(sandbox.evaluation('1')).toHaveProperty('deleted_at');
  expect(sandbox.stats()).toMatchObject({ requests: 0, evaluations_restored: 0, log_entries: 0 });
  expect(await calls()).toEqual(first);
});

test.each([
  ['/log?after=x', 400],
  ['/log?before=1', 400],
  ['/state?kind=call', 400],
  ['/state?changed=perhaps', 400],
  ['/stats?requests=-1', 400],
  ['/nowhere', 404],
])('%s is %d with an explanation', async (path, status) => {
  const sandbox = await start();
  const answer = await admin(sandbox, path);
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({ error: expect.any(String) });
});
