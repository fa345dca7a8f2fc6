import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { thisProcess } from '../../../src/base/disk/process.ts';
import { parsedArgument } from '../../../src/cli/commands/options.ts';
import { enterState, type RunState } from '../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { buildServer } from '../../../src/pages/server/server.ts';
import { parseRate } from '../../../src/settings/parsers.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { clientOf, host, origin } from './dashboard-client.ts';

/** A dashboard with one run, `r`, that does not listen. */
async function dashboard({ state = 'running' as RunState, control = true, requireReason = false } = {}) {
  const stateDir = join(await temporaryFolder(), '.cqbatch');
  const store = openRunStore(stateDir, operations);
  const { folder } = await store.create('r');
  await store.save({ ...enterState({ ...plannedRecord, id: 'r' }, state), process: thisProcess() });
  const { server, access } = await buildServer({
    host: '127.0.0.1',
    port: 0,
    store,
    control: control
      ? { parseRate: (text) => parsedArgument('Rate', text, parseRate), requireReason }
      : undefined,
  });
  onTestFinished(() => server.close());
  const { get, post, enter } = clientOf({ server, access });
  /** The command that the dashboard has written for the run. */
  const written = async () => JSON.parse(await readFile(join(folder, 'control.jsonl'), 'utf8'));
  return { stateDir, folder, server, access, get, post, enter, written };
}

describe('the page', () => {
  test("has only scripts and styles of the server, and can't be framed", async () => {
    const { get } = await dashboard();
    const { statusCode, headers, body } = await get('/');
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    const policy = String(headers['content-security-policy']).split('; ');
    const own = ['script', 'style', 'connect'].map((what) => `${what}-src 'self'`);
    expect(policy).toEqual(expect.arrayContaining([...own, "default-src 'none'", "frame-ancestors 'none'"]));
    expect(policy.join()).not.toContain('unsafe');
    expect(body).not.toMatch(/<script(?![^>]*src=)|style=|\son\w+=/);
    // A proxy may serve the page under a path.
    expect(body).not.toMatch(/(?:href|src)="\//);
  });

  test.each(['/', '/events', '/control?token=x', '/runs/r/report.html', '/runs/r/report.json', '/none'])(
    'and %s is for no other origin, and for no name that was made to lead here',
    async (url) => {
      const { get } = await dashboard();
      for (const headers of [{ origin: 'http://evil.example' }, { host: 'evil.example:8788' }]) {
        const answer = await get(url, headers);
        expect(answer.statusCode).toBe(403);
        expect(answer.body).toMatch(/^The dashboard refuses requests from other sites\./);
      }
    },
  );
});

describe('a report', () => {
  test('is served unchanged, in a sandbox', async () => {
    const { get, folder } = await dashboard();
    expect((await get('/runs/r/report.html')).statusCode).toBe(404);
    await writeFile(join(folder, 'report.html'), '<p>report</p>');
    const { statusCode, headers, body } = await get('/runs/r/report.html');
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: '<p>report</p>' });
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^sandbox allow-scripts allow-downloads; connect-src 'none'/);
    expect(policy).not.toContain('allow-same-origin');
  });

  test('of a missing or unreadable run says why', async () => {
    const { get, folder } = await dashboard();
    const told = async (id: string) => (await get(`/runs/${id}/report.json`)).json().message;
    expect(await told('none')).toContain('none');
    expect(await told('r')).toContain(folder);
    expect((await get('/runs/none/report.json')).statusCode).toBe(404);
    expect((await get('/runs/r/report.json')).statusCode).toBe(503);
  });

  test('is never a file outside the folder of a run', async () => {
    const { get, stateDir } = await dashboard();
    await mkdir(join(stateDir, 'runs', 'x'));
    await writeFile(join(stateDir, 'report.html'), 'secret');
    for (const id of ['..', '%2e%2e', '..%2f..', 'r%2f..%2f..', '%2fetc', 'r%00', '.', 'R'])
      for (const file of ['report.html', 'report.json'])
        expect((await get(`/runs/${id}/${file}`)).body, id).not.toContain('secret');
  });
});

describe('control', () => {
  const asked = [
    ['pause', 'running', {}, { command: 'pause' }],
    ['unpause', 'paused', {}, { command: 'unpause' }],
    ['cancel', 'running', { confirm: 'r' }, { command: 'cancel' }],
    ['set-rate', 'paused', { rate: '20/s' }, { rate: { perSecond: 20 } }],
    ['set-priority', 'running', { priority: 'high' }, { priority: 'high' }],
  ] as const;

  test.each(asked)('asks a run to %s', async (control, state, body, command) => {
    const { post, enter, written } = await dashboard({ state });
    const answer = await post(`/runs/r/${control}`, body, await enter());
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toEqual({ asked: control });
    expect(await written()).toMatchObject({ ...command, by: {}, reason: 'on the dashboard' });
  });

  test('keeps the reason that the reader gives', async () => {
    const { post, enter, written } = await dashboard();
    const reason = `  ${'x'.repeat(600)}  `;
    expect((await post('/runs/r/pause', { reason }, await enter())).statusCode).toBe(202);
    expect((await written()).reason).toBe(`${'x'.repeat(480)} (on the dashboard)`);
  });

  test.each(asked)(
    'refuses to %s it without a reason where the settings require one',
    async (control, state, body) => {
      const { post, enter, written } = await dashboard({ state, requireReason: true });
      const session = await enter();
      for (const reason of [undefined, '', ' \t', 7]) {
        const answer = await post(`/runs/r/${control}`, { ...body, reason }, session);
        expect(answer.statusCode).toBe(400);
        expect(answer.json().message).toContain('require a reason');
      }
      await expect(written()).rejects.toThrow('ENOENT');
      expect((await post(`/runs/r/${control}`, { ...body, reason: 'why' }, session)).statusCode).toBe(202);
      expect((await written()).reason).toBe('why (on the dashboard)');
    },
  );

  test.each(asked)('does not ask it to %s without session, origin or JSON', async (control, state, body) => {
    const { post, server, enter, access, written } = await dashboard({ state });
    const url = `/runs/r/${control}`;
    const unknown = await post(url, body);
    expect(unknown.statusCode).toBe(403);
    expect(unknown.json().message).toContain('cqbatch dashboard --control');
    expect((await post(`${url}?token=${access?.token}`, body)).statusCode).toBe(403);
    expect((await post(url, body, { cookie: 'cqbatch-8788=guessed' })).statusCode).toBe(403);
    const session = await enter();
    for (const foreign of ['http://evil.example', 'null'])
      expect((await post(url, body, { ...session, origin: foreign })).statusCode).toBe(403);
    const bare = { method: 'POST', url, headers: { host, ...session } } as const;
    expect((await server.inject({ ...bare, payload: body })).statusCode).toBe(403);
    const form = { ...bare.headers, origin, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await server.inject({ ...bare, headers: form, payload: 'confirm=r' })).statusCode).toBe(415);
    const text = { ...bare.headers, origin, 'content-type': 'text/plain' };
    expect((await server.inject({ ...bare, headers: text, payload: JSON.stringify(body) })).statusCode).toBe(
      415,
    );
    expect((await server.inject({ url, headers: { host, ...session } })).statusCode).toBe(404);
    await expect(written()).rejects.toThrow('ENOENT');
  });

  test('is for one visitor, whose address then has no token', async () => {
    const { get, server, access } = await dashboard();
    const url = `/control?token=${access?.token}`;
    // The request of a link preview.
    expect((await server.inject({ method: 'HEAD', url, headers: { host } })).statusCode).toBe(404);
    const first = await get(url);
    expect(first.statusCode).toBe(303);
    expect(first.headers).toMatchObject({
      location: './',
      'set-cookie': expect.stringContaining('HttpOnly'),
    });
    const second = await get(url);
    expect(second.statusCode).toBe(403);
    expect(second.headers).not.toHaveProperty('set-cookie');
    expect(second.body).toMatch(/has expired.*<a href=".\/">Look at the dashboard<\/a>/s);
    // The visitor may open the address again.
    const cookie = String(first.headers['set-cookie']).split(';')[0];
    const again = await get(url, { cookie });
    expect([again.statusCode, again.headers.location]).toEqual([303, './']);
  });

  test('is refused without --control', async () => {
    const { get, post, access } = await dashboard({ control: false });
    expect(access).toBeUndefined();
    for (const token of ['', 'undefined'])
      expect((await get(`/control?token=${token}`)).statusCode).toBe(403);
    expect((await post('/runs/r/pause', {})).statusCode).toBe(403);
  });

  test.each<[path: string, body: object, status: number, message: string | RegExp]>([
    ['r/cancel', {}, 400, 'To cancel the run, confirm its id: {"confirm": "r"}.'],
    ['r/cancel', { confirm: 'q' }, 400, /confirm its id/],
    ['r/unpause', {}, 409, 'Run r is running, not paused.'],
    ['r/set-rate', { rate: 'fast' }, 400, /Rate "fast": /],
    ['r/set-rate', {}, 400, 'Give the rate: {"rate": "20/s"}.'],
    [
      'r/set-priority',
      { priority: 'top' },
      400,
      'Give the priority: {"priority": "high"}, "normal" or "low".',
    ],
    ['none/pause', {}, 404, 'There is no run none.'],
    ['..%2fr/pause', {}, 400, /^"\.\.\/r" can't be the id of a run: /],
  ])('refuses %s with %j, and says why', async (path, body, status, message) => {
    const { post, enter } = await dashboard();
    const { statusCode, json } = await post(`/runs/${path}`, body, await enter());
    const text = typeof message === 'string' ? message : expect.stringMatching(message);
    expect([statusCode, json().message]).toEqual([status, text]);
  });

  test('of a stopped run is left to the command line', async () => {
    const { post, enter } = await dashboard({ state: 'halted' });
    const answer = await post('/runs/r/cancel', { confirm: 'r' }, await enter());
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toEqual({
      message: 'Run r is halted, not in progress: "cqbatch cancel r" cancels it.',
    });
  });
});
