import { expect, test } from 'vitest';
import { generateEvaluation } from '../../src/sandbox/generate.ts';
import { shapes } from '../helpers/sandbox.ts';
import {
  evaluationPages,
  evaluationsPath,
  type Fields,
  getPath,
  restore,
  restorePath,
  send,
  soundboardsPath,
  start,
  update,
} from './client.ts';

const idOf = (evaluation: Fields): string =>
  String(evaluation['evaluation_id'] ?? evaluation['evaluationId']);

const idsFrom1To = (last: number): string[] => Array.from({ length: last }, (_, index) => String(index + 1));

test.each(shapes)('the pages of %s have each deleted evaluation once, without sections', async (shape) => {
  const sandbox = await start({ shape, evaluations: 250, notDeleted: '1%' });
  await restore(sandbox, 3);
  const pages = await evaluationPages(sandbox, { page_size: 100 });
  expect(pages.map((page) => page.length)).toEqual([100, 100, 47]);
  const listed = pages.flat();
  const deleted = idsFrom1To(250).filter((id) => !['3', '70', '170'].includes(id));
  expect(listed.map(idOf)).toEqual(deleted);
  const { evaluation_sections, evaluationSections = evaluation_sections, ...first } = listed[0] ?? {};
  expect(evaluationSections).toEqual(shape === 'gateway' ? [] : undefined);
  const { deleted_by, agent_user_id, score } = generateEvaluation(1n, 1n);
  expect(first).toMatchObject(
    shape === 'document'
      ? { deleted_by, agent_user_id, score, is_recoverable: true }
      : { deletedBy: deleted_by, agentUserId: agent_user_id, score, isRecoverable: true },
  );
});

test('the last page has an empty token, which a shape without zero values leaves out', async () => {
  const request = '{"is_deleted":true,"page_size":9}';
  for (const [shape, last] of [
    ['document', { next_page_token: '' }],
    ['gateway', { nextPageToken: '' }],
    ['connect', {}],
  ] as const) {
    const sandbox = await start({ shape, evaluations: 0 });
    const { text } = await send(sandbox, evaluationsPath, request);
    expect(JSON.parse(text)).toEqual({ ...(shape !== 'connect' && { evaluations: [] }), ...last });
  }
});

test('without is_deleted, the list has the evaluations that are not deleted', async () => {
  const sandbox = await start({ evaluations: 200, notDeleted: '1%' });
  await restore(sandbox, 5);
  const pages = await evaluationPages(sandbox, { is_deleted: undefined });
  expect(pages.flat().map(idOf)).toEqual(['5', '70', '170']);
  expect(pages.flat()[0]).not.toHaveProperty('deleted_at');
});

test('a page examines 10,000 evaluations at most, so it may be empty before the end', async () => {
  const sandbox = await start({ evaluations: 20_001 });
  const pages = await evaluationPages(sandbox, { is_deleted: false });
  expect(pages).toEqual([[], [], []]);
});

test('the largest number of evaluations is listed as any other', async () => {
  const sandbox = await start({ evaluations: '9223372036854775807' });
  const { status, body } = await send(sandbox, evaluationsPath, '{"is_deleted":true,"page_size":2}');
  expect(status).toBe(200);
  expect(body).toMatchObject({ evaluations: [{ evaluation_id: 1 }, { evaluation_id: 2 }] });
});

test.each<[name: string, filter: Fields, isChosen: (evaluation: Fields) => boolean]>([
  [
    'agent_user_ids',
    { agent_user_ids: ['agent-3', 'agent-4'] },
    ({ agent_user_id: agent }) => agent === 'agent-3' || agent === 'agent-4',
  ],
  ['scorecard_ids', { scorecard_ids: [7, '8'] }, ({ scorecard_id: id }) => id === 7 || id === 8],
  [
    'completed_at',
    { completed_at: { gte: '2024-02-01T00:00:00+01:00', lt: '2024-03-01T00:00:00Z' } },
    ({ completed_at: time }) =>
      String(time) >= '2024-01-31T23:00:00Z' && String(time) < '2024-03-01T00:00:00Z',
  ],
])('the filter %s chooses', async (_, filter, isChosen) => {
  const sandbox = await start({ evaluations: 500 });
  const all = (await evaluationPages(sandbox, {})).flat();
  const chosen = (await evaluationPages(sandbox, { ...filter, page_size: 3 })).flat();
  expect(chosen).toEqual(all.filter(isChosen));
  expect(chosen.length).toBeGreaterThan(1);
  expect(chosen.length).toBeLessThan(100);
});

test('one user has deleted 412 of the usual evaluations in one afternoon, among other deletions', async () => {
  const sandbox = await start({ notDeleted: '1%', unrecoverable: '2%' });
  const listed = (await evaluationPages(sandbox, { page_size: 1000 })).flat();
  const ofUser = listed.filter((each) => each['deleted_by'] === 'u-17');
  const since = listed.filter((each) => String(each['deleted_at']) >= '2024-12-12');
  const ofAccident = ofUser.filter((each) => since.includes(each));
  expect(ofAccident.map(({ deleted_at: time }) => String(time).slice(0, 10))).toEqual(
    Array(412).fill('2024-12-12'),
  );
  expect(ofAccident.filter((each) => each['is_recoverable'] === false)).toHaveLength(8);
  expect(ofUser.length).toBeGreaterThan(412);
  expect(since.length).toBeGreaterThan(412);
});

test.each<[body: string, field: string]>([
  ['{"is_deleted":true}', 'page_size'],
  ['{"page_size":null}', 'page_size'],
  ['{"page_size":0}', 'page_size'],
  ['{"page_size":1001}', 'page_size'],
  ['{"page_size":"x"}', 'page_size'],
  ['{"page_size":10,"page_token":"x"}', 'page_token'],
  ['{"page_size":10,"page_token":"MTAwLjEyMw"}', 'page_token'],
  ['{"page_size":10,"completed_at":{"gte":"yesterday"}}', 'completed_at.gte'],
  ['{"page_size":10,"agent_user_ids":"agent-3"}', 'agent_user_ids'],
])('the list refuses %s', async (body, field) => {
  const sandbox = await start({ shape: 'gateway' });
  const refusal = await send(sandbox, evaluationsPath, body);
  const details = [{ fieldViolations: [{ field }] }];
  expect(refusal).toMatchObject({ status: 400, body: { code: 3, details } });
});

test('a page token is of one list and one seed; the size of pages may change', async () => {
  const sandbox = await start();
  const first = await send(sandbox, evaluationsPath, '{"is_deleted":true,"page_size":10}');
  const { next_page_token: page_token } = first.body as { next_page_token: string };
  const next = (query: Fields, of = sandbox) =>
    send(of, evaluationsPath, JSON.stringify({ is_deleted: true, page_size: 1, page_token, ...query }));
  expect((await next({})).body).toMatchObject({ evaluations: [{ evaluation_id: 11 }] });
  expect((await next({ is_deleted: false })).status).toBe(400);
  expect((await next({ agent_user_ids: ['agent-3'] })).status).toBe(400);
  expect((await next({}, await start({ seed: 2 }))).status).toBe(400);
});

test('order and unknown filters are refused by the document, and dropped by a service of Protocol Buffers', async () => {
  const body = '{"page_size":1,"order_by":"score"}';
  expect((await send(await start(), evaluationsPath, body)).status).toBe(400);
  expect((await send(await start({ shape: 'connect' }), evaluationsPath, body)).status).toBe(200);
});

test.each(['gateway', 'connect'])('requests of %s may have names in camelCase', async (shape) => {
  const sandbox = await start({ shape });
  const completedAt = { gte: '2024-04-01T00:00:00Z' };
  const query = { isDeleted: true, pageSize: '2', agentUserIds: [], completedAt };
  const { body } = await send(sandbox, evaluationsPath, JSON.stringify(query));
  const { evaluations, nextPageToken } = body as { evaluations: Fields[]; nextPageToken: string };
  expect(evaluations.filter((each) => String(each['completedAt']) >= completedAt.gte)).toHaveLength(2);
  const next = { ...query, pageToken: nextPageToken };
  expect((await send(sandbox, evaluationsPath, JSON.stringify(next))).status).toBe(200);
});

test('one evaluation is read with its sections, deleted or not', async () => {
  const sandbox = await start({ evaluations: 3 });
  const read = (id: number) => send(sandbox, getPath, `{"evaluation_id":${id}}`);
  expect((await read(2)).body).toEqual({ evaluation: sandbox.evaluation(2) });
  expect(sandbox.evaluation(2)).toHaveProperty('deleted_at');
  await restore(sandbox, 2);
  expect((await read(2)).body).toEqual({ evaluation: sandbox.evaluation(2) });
  expect(sandbox.evaluation(2)).not.toHaveProperty('deleted_at');
  const unknown = { code: 5, message: 'evaluation 4 was not found' };
  expect(await read(4)).toMatchObject({ status: 404, body: unknown });
});

test.each(shapes)('the list of soundboard entries of %s has all of them, with all fields', async (shape) => {
  const sandbox = await start({ shape, soundboards: 1500 });
  await update(sandbox, { [shape === 'document' ? 'soundboard_id' : 'soundboardId']: 2, title: 'New' });
  const { status, body } = await send(sandbox, soundboardsPath, '{}');
  expect(status).toBe(200);
  const { soundboards } = body as { soundboards: Fields[] };
  expect(soundboards.map((each) => String(each['soundboard_id'] ?? each['soundboardId']))).toEqual(
    idsFrom1To(1500),
  );
  if (shape === 'document') expect(soundboards[1]).toEqual(sandbox.soundboard(2));
  expect(soundboards[1]).toMatchObject({ title: 'New' });
  // Connect leaves out the first file type, and empty texts.
  if (shape !== 'connect') expect(soundboards.filter((each) => Object.keys(each).length !== 9)).toEqual([]);
});

test.each([
  ['document', '{"soundboards":[]}'],
  ['gateway', '{"soundboards":[]}'],
  ['connect', '{}'],
])('without entries, the list of %s is %s', async (shape, text) => {
  const sandbox = await start({ shape, soundboards: 0 });
  expect((await send(sandbox, soundboardsPath, '{}')).text).toBe(text);
});

test('a list of soundboard entries without an end is sent as far as the client reads it', async () => {
  const sandbox = await start({ soundboards: '9223372036854775807' });
  const client = new AbortController();
  const response = await fetch(sandbox.url + soundboardsPath, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
    body: '{}',
    signal: client.signal,
  });
  const { value } = (await response.body?.getReader().read()) ?? {};
  expect(Buffer.from(value ?? []).toString()).toMatch(/^\{"soundboards":\[\{"soundboard_id":1,/);
  client.abort();
  expect((await restore(sandbox, 1)).status).toBe(200);
});

test('a list of soundboard entries may be broken JSON, or lost, as any answer', async () => {
  const sandbox = await start({ soundboards: 1500, fault: 'malformed=100%' });
  const broken = await send(sandbox, soundboardsPath, '{}');
  expect([broken.status, broken.body]).toEqual([200, undefined]);
  expect(broken.text).toMatch(/^\{"soundboards":\[\{"soundboard_id":1,/);
  sandbox.configure({ fault: '502-after-commit=100%' });
  expect((await send(sandbox, soundboardsPath, '{}')).status).toBe(502);
});

test('reads are logged without an identifier for lists, commit nothing, and count by page', async () => {
  const sandbox = await start({ evaluations: 4, soundboards: 1 });
  await evaluationPages(sandbox, { page_size: 2 });
  await send(sandbox, getPath, '{"evaluation_id":1}');
  await send(sandbox, soundboardsPath, '{}');
  await send(sandbox, soundboardsPath, '{}');
  const read = { status: 200, code: 'OK', committed: false, fault: null, user_id: null };
  expect(await sandbox.log()).toMatchObject([
    { ...read, operation: 'list-evaluations', id: null, nth: 1 },
    { ...read, operation: 'list-evaluations', id: null, nth: 1 },
    { ...read, operation: 'get-evaluation', id: '1', nth: 1 },
    { ...read, operation: 'list-soundboards', id: null, nth: 1 },
    { ...read, operation: 'list-soundboards', id: null, nth: 2 },
  ]);
});

const page = '{"page_size":1}';
const lacking = (permission: string): string =>
  `{"code":7,"message":"the access token lacks ${permission}","details":[]}`;
const evaluate = lacking('PERMISSION_SCORECARDS_EVALUATE');
const notFound = '{"code":5,"message":"Not Found","details":[]}';
const defaultBackend = 'default backend - 404';

test.each<[lists: string, shape: string, path: string, body: string, status: number, text: string]>([
  ['forbidden', 'document', evaluationsPath, page, 403, evaluate],
  ['forbidden', 'gateway', getPath, '{"evaluation_id":1}', 403, evaluate],
  ['forbidden', 'document', soundboardsPath, '{}', 403, lacking('PERMISSION_SOUNDBOARD_VIEW')],
  ['missing', 'gateway', evaluationsPath, page, 404, notFound],
  ['missing', 'connect', soundboardsPath, '{}', 404, ''],
  ['balancer', 'document', evaluationsPath, page, 404, defaultBackend],
  ['balancer', 'connect', soundboardsPath, '{}', 404, defaultBackend],
  ['balancer', 'gateway', '/nothing', '{}', 404, defaultBackend],
])('with --lists %s, %s answers %s %s with %i', async (lists, shape, path, body, status, text) => {
  const sandbox = await start({ lists, shape });
  expect(await send(sandbox, path, body)).toMatchObject({ status, text });
  expect((await send(sandbox, restorePath, '{"evaluation_id":1}')).status).toBe(200);
});
