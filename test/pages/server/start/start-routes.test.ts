import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mostUploadBytes } from '../../../../src/pages/server/start/draft.ts';
import { host, origin } from '../dashboard-client.ts';
import { planned, startedDashboard } from './started-dashboard.ts';

/** The requests with which a page prepares and starts runs. `ID` stands for the id of a draft. */
const requests = [
  ['GET', '/start.json'],
  ['POST', '/drafts?name=rows.csv'],
  ['GET', '/drafts/ID'],
  ['GET', '/drafts/ID/plan.html'],
  ['POST', '/drafts/ID/plan'],
  ['POST', '/drafts/ID/start'],
  ['POST', '/drafts/ID/discard'],
  ['POST', '/runs/r/retry'],
  ['POST', '/runs/r/undo'],
  ['POST', '/runs/r/resume'],
  ['POST', '/runs/r/check'],
  ['POST', '/lists/soundboards'],
] as const;

/** Names that a web site can make lead to this machine, or that look like its own. */
const foreignHosts = [
  'evil.example:8788',
  'evil.example',
  '127.0.0.1.evil.example:8788',
  'localhost.evil.example:8788',
  '127.0.0.1:8788.evil.example',
  'localhost:8788@evil.example',
  '127.0.0.1:8788, evil.example',
  'evil.example:8788#127.0.0.1:8788',
  'localhost.:8788x',
  '0x7f.1:8788',
  '2130706433:8788',
  '017700000001:8788',
  'local host:8788',
  '[::1:8788',
  '::1]:8788',
  '',
  '*',
  'lоcalhost:8788',
];

const foreignOrigins = [
  'http://evil.example',
  'null',
  'http://127.0.0.1:8789',
  'http://127.0.0.1',
  'http://localhost:8788',
  'http://127.0.0.1:8788.evil.example',
  'file://',
];

describe.each(requests)('%s %s', (method, url) => {
  const isPost = method === 'POST';
  const contentType = url.startsWith('/drafts?') ? 'application/octet-stream' : 'application/json';
  const payload = isPost ? '{}' : undefined;

  async function place() {
    const opened = await startedDashboard();
    const session = await opened.enter();
    const draft = (await opened.upload('rows.csv', 'evaluation_id\n1\n', session)).json();
    await opened.post(`/drafts/${draft.id}/plan`, {}, session);
    opened.asked.length = 0;
    const address = url.replace('ID', draft.id);
    const ask = (headers: object) =>
      opened.server.inject({
        method,
        url: address,
        ...(payload !== undefined && { payload }),
        headers: { host, ...(isPost && { 'content-type': contentType }), ...headers },
      });
    const drafts = () => readdir(join(opened.stateDir, 'drafts'));
    return { ...opened, session, ask, drafts };
  }

  test('is for no foreign name and no foreign origin, even with the session', async () => {
    const { ask, session, asked, drafts } = await place();
    for (const foreign of foreignHosts)
      expect((await ask({ ...session, origin, host: foreign })).statusCode, foreign).toBeGreaterThanOrEqual(
        400,
      );
    for (const foreign of foreignOrigins)
      expect((await ask({ ...session, origin: foreign })).statusCode, foreign).toBe(403);
    for (const site of ['cross-site', 'same-site'])
      expect((await ask({ ...session, 'sec-fetch-site': site })).statusCode, site).toBe(403);
    expect(asked).toEqual([]);
    expect(await drafts()).toHaveLength(1);
  });

  test('is refused without the session, and by a post without an origin', async () => {
    const { ask, access, session, asked, drafts } = await place();
    const refused = [
      await ask({ origin }),
      await ask({ origin, cookie: `cqbatch-8788=${access?.token}` }),
      await ask({ origin, cookie: 'cqbatch-8788=' }),
      await ask({ origin, authorization: `Bearer ${access?.token}` }),
      ...(isPost ? [await ask(session)] : []),
    ];
    for (const { statusCode, headers, json } of refused) {
      expect(statusCode).toBe(403);
      expect(json().message).toContain('cqbatch dashboard --control');
      // A client that sends the rest of a body slowly does not hold the connection.
      expect(headers['connection']).toBe('close');
    }
    expect(asked).toEqual([]);
    expect(await drafts()).toHaveLength(1);
  });

  test('takes no form and no text, which a page of another site can post', async () => {
    if (!isPost) return;
    const { ask, session, asked, drafts } = await place();
    const other = contentType === 'application/json' ? 'application/octet-stream' : 'application/json';
    for (const type of [
      other,
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
    ])
      expect((await ask({ ...session, origin, 'content-type': type })).statusCode, type).toBe(415);
    expect(asked).toEqual([]);
    expect(await drafts()).toHaveLength(1);
  });

  test('takes no body that is too large or broken', async () => {
    if (!isPost || contentType !== 'application/json') return;
    const { server, session, asked, drafts, ask } = await place();
    const [{ id = '' } = {}] = [{ id: (await drafts())[0] }];
    const post = (body: string) =>
      server.inject({
        method,
        url: url.replace('ID', id),
        payload: body,
        headers: { host, origin, 'content-type': contentType, ...session },
      });
    expect((await post(`{"reason":"${'x'.repeat(110_000)}"}`)).statusCode).toBe(413);
    for (const broken of ['{', '{"__proto__": {"reason": 1}}', '{"constructor": {"prototype": {}}}'])
      expect((await post(broken)).statusCode, broken).toBe(400);
    expect(asked).toEqual([]);
    expect((await ask({ ...session, origin })).statusCode).not.toBe(403);
  });

  test('does not exist on a dashboard without --control', async () => {
    const { server } = await startedDashboard({ control: false });
    const answer = await server.inject({ method, url, headers: { host, ...(isPost && { origin }) } });
    expect([403, 404]).toContain(answer.statusCode);
  });
});

describe('a file that is dropped', () => {
  test('is kept byte for byte, planned with the choices, and started once', async () => {
    const { upload, post, get, enter, asked, stateDir } = await startedDashboard();
    const session = await enter();
    const text = '\uFEFFevaluation_id;title\r\n1;"ä\u0000"\r\n';
    const received = await upload('Äpfel & Birnen.csv', text, session);
    expect(received.statusCode).toBe(201);
    const { id, source } = received.json();
    expect(source).toMatchObject({
      kind: 'file',
      name: 'Äpfel & Birnen.csv',
      bytes: Buffer.byteLength(text),
    });
    expect(await readFile(join(stateDir, 'drafts', id, 'manifest'), 'utf8')).toBe(text);
    expect((await get(`/drafts/${id}/plan.html`, session)).statusCode).toBe(400);

    const choices = { map: { title: 'title' }, skipInvalid: true };
    expect((await post(`/drafts/${id}/plan`, choices, session)).json()).toMatchObject({ choices, planned });
    const page = await get(`/drafts/${id}/plan.html`, session);
    // Markup of a plan must not run as a page of the dashboard.
    expect(page.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(page.body).toBe(`<p>${text}</p>`);

    const sha256 = planned.plan_sha256;
    const body = { sha256, confirm: 3, reason: 'new names' };
    const [one, other] = await Promise.all([
      post(`/drafts/${id}/start`, body, session),
      post(`/drafts/${id}/start`, body, session),
    ]);
    expect([one.json().run, other.json().run]).toEqual(['rows-1', 'rows-1']);
    expect((await post(`/drafts/${id}/start`, body, session)).json().run).toBe('rows-1');
    const wishes = { reason: 'new names (on the dashboard)', tenFirst: true };
    expect(asked).toEqual([
      ['plan', 'Äpfel & Birnen.csv', text, choices],
      ['submit', text, sha256, wishes],
    ]);
    // The run has its own copy of the bytes.
    expect(await readdir(join(stateDir, 'drafts', id))).toEqual(['draft.json']);
  });

  test('is removed with everything when the person discards it', async () => {
    const { upload, post, get, enter, stateDir } = await startedDashboard();
    const session = await enter();
    const { id } = (await upload('rows.csv', 'x', session)).json();
    expect((await post(`/drafts/${id}/discard`, {}, session)).statusCode).toBe(200);
    expect(await readdir(join(stateDir, 'drafts'))).toEqual([]);
    const gone = await get(`/drafts/${id}`, session);
    expect([gone.statusCode, gone.json().message]).toEqual([404, expect.stringContaining('is gone')]);
  });

  test('of more than 20 MB is refused, and nothing of it is kept', async () => {
    const { upload, enter, stateDir } = await startedDashboard();
    const session = await enter();
    const answer = await upload('big.csv', Buffer.alloc(mostUploadBytes + 1, 'x'), session);
    expect(answer.statusCode).toBe(413);
    expect(answer.json().message).toBe(
      'The file is larger than 20 MB, the most that a page takes: type "cqbatch plan FILE" in a terminal.',
    );
    expect(await readdir(join(stateDir, 'drafts'))).toEqual([]);
    expect((await upload('most.csv', Buffer.alloc(mostUploadBytes, 'x'), session)).statusCode).toBe(201);
  });

  test.each(['', '..', 'a/b.csv', '../../etc/passwd', 'a\u0000.csv', 'x'.repeat(201), '.'])(
    'has a name of a file, not %j',
    async (name) => {
      const { upload, enter, stateDir } = await startedDashboard();
      expect((await upload(name, 'x', await enter())).statusCode).toBe(400);
      await expect(readdir(join(stateDir, 'drafts'))).rejects.toThrow('ENOENT');
    },
  );

  test('that has no plan says why, and can be planned again', async () => {
    const { upload, post, enter, asked } = await startedDashboard();
    const session = await enter();
    const { id } = (await upload('rows.csv', 'refused', session)).json();
    const draft = (await post(`/drafts/${id}/plan`, { userId: 'u' }, session)).json();
    expect(draft).toMatchObject({
      choices: { userId: 'u' },
      refusal: { code: 'MANIFEST_EMPTY', message: 'The manifest has no rows.' },
    });
    expect(draft).not.toHaveProperty('planned');
    const start = await post(`/drafts/${id}/start`, { sha256: planned.plan_sha256, confirm: 3 }, session);
    expect([start.statusCode, start.json().message]).toEqual([
      400,
      expect.stringContaining('plan the rows again'),
    ]);
    expect(asked.map(([command]) => command)).toEqual(['plan']);
  });

  test.each([
    [{ unknown: true }],
    [{ skipInvalid: 'yes' }],
    [{ onConflict: 'guess' }],
    [{ map: { a: '' } }],
    [{ userId: 'x'.repeat(201) }],
    [{ baseUrl: 'https://evil.example' }],
    [{ tokenFile: '/etc/passwd' }],
    [{ out: '/tmp/x' }],
  ])('is not planned with %j', async (choices) => {
    const { upload, post, enter, asked } = await startedDashboard();
    const session = await enter();
    const { id } = (await upload('rows.csv', 'x', session)).json();
    expect((await post(`/drafts/${id}/plan`, choices, session)).statusCode).toBe(400);
    expect(asked).toEqual([]);
  });

  test.each([
    [{ confirm: 3 }, 'was made again'],
    [{ confirm: 3, sha256: 'b'.repeat(64) }, 'was made again'],
    [{ sha256: planned.plan_sha256 }, 'type the number of its calls: 3'],
    [{ sha256: planned.plan_sha256, confirm: '3' }, 'type the number of its calls: 3'],
    [{ sha256: planned.plan_sha256, confirm: 4 }, 'type the number of its calls: 3'],
  ])('is not started with %j', async (body, message) => {
    const { upload, post, enter, asked } = await startedDashboard();
    const session = await enter();
    const { id } = (await upload('rows.csv', 'x', session)).json();
    await post(`/drafts/${id}/plan`, {}, session);
    const answer = await post(`/drafts/${id}/start`, body, session);
    expect([answer.statusCode, answer.json().message]).toEqual([400, expect.stringContaining(message)]);
    expect(asked.map(([command]) => command)).toEqual(['plan']);
  });

  test('is not started without a reason where the settings require one', async () => {
    const { upload, post, enter, asked } = await startedDashboard({ requireReason: true });
    const session = await enter();
    const { id } = (await upload('rows.csv', 'x', session)).json();
    await post(`/drafts/${id}/plan`, {}, session);
    const body = { sha256: planned.plan_sha256, confirm: 3, ten_first: false };
    expect((await post(`/drafts/${id}/start`, body, session)).statusCode).toBe(400);
    expect((await post(`/drafts/${id}/start`, { ...body, reason: 'why' }, session)).statusCode).toBe(200);
    expect(asked.at(-1)?.[3]).toEqual({ reason: 'why (on the dashboard)', tenFirst: false });
  });
});

describe('an ended run', () => {
  test.each(['retry', 'undo'] as const)('gets a draft of its %s', async (kind) => {
    const { post, enter, asked } = await startedDashboard();
    const answer = await post(`/runs/r/${kind}`, { transient: true }, await enter());
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toMatchObject({ source: { kind, run: 'r' }, planned });
    expect(asked).toEqual([[kind, 'r', { transient: true }]]);
  });

  test('is not retried with choices that do not exist', async () => {
    const { post, enter, asked } = await startedDashboard();
    expect((await post('/runs/r/retry', { transient: 'yes' }, await enter())).statusCode).toBe(400);
    expect(asked).toEqual([]);
  });

  test('that is unknown leaves no draft', async () => {
    const { post, enter, stateDir } = await startedDashboard();
    const answer = await post('/runs/none/retry', {}, await enter());
    expect([answer.statusCode, answer.json().message]).toEqual([404, 'There is no run none.']);
    expect(await readdir(join(stateDir, 'drafts'))).toEqual([]);
  });

  test('is resumed with a reason, and checked', async () => {
    const { post, enter, asked } = await startedDashboard();
    const session = await enter();
    expect((await post('/runs/r/resume', { reason: 'mended' }, session)).statusCode).toBe(202);
    expect((await post('/runs/r/check', {}, session)).json()).toEqual({ text: 'All 3 rows are as wished.' });
    expect(asked).toEqual([
      ['resume', 'r', 'mended (on the dashboard)'],
      ['check', 'r'],
    ]);
  });

  test.each(['..%2fr', '%2e%2e', 'R', 'r%00'])('has no id like %s', async (id) => {
    const { post, enter, asked } = await startedDashboard();
    const session = await enter();
    for (const what of ['retry', 'undo', 'resume', 'check'])
      expect((await post(`/runs/${id}/${what}`, {}, session)).statusCode).toBeGreaterThanOrEqual(400);
    expect(asked).toEqual([]);
  });
});

test.each(['none', 'away'])('a retry or undo of run %s that has no plan leaves no draft', async (run) => {
  const { post, enter, stateDir } = await startedDashboard();
  const session = await enter();
  for (const kind of ['retry', 'undo'])
    expect((await post(`/runs/${run}/${kind}`, {}, session)).statusCode).toBeGreaterThanOrEqual(400);
  expect(await readdir(join(stateDir, 'drafts'))).toEqual([]);
});
