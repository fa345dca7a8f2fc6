import { expect, test } from 'vitest';
import { lines, look, restore, send, start, update } from './client.ts';

test('the log has every request as a line of JSON, in the order of arrival', async () => {
  const sandbox = await start();
  await restore(sandbox, 1);
  await update(sandbox, { soundboard_id: 2, title: 'x' });
  await send(sandbox, '/nowhere', undefined, { method: 'GET' });
  const { status, headers, text } = await look(sandbox, '/log');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/x-ndjson');
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const undisturbed = { time, traceparent: null, user_id: null, fault: null, throttled: false };
  const done = { ...undisturbed, nth: 1, status: 200, code: 'OK', committed: true };
  const restored = { operation: 'restore-evaluation', id: '1', user_id: 'tester' };
  const updated = { operation: 'update-soundboard', id: '2' };
  const nothing = { operation: null, id: null, nth: null, status: 404, code: 'NOT_FOUND', committed: false };
  expect(lines(text)).toEqual([
    { ...done, seq: 1, ...restored, body: '{"evaluation_id":1,"user_id":"tester"}' },
    { ...done, seq: 2, ...updated, body: '{"soundboard":{"soundboard_id":2,"title":"x"}}' },
    { ...undisturbed, seq: 3, ...nothing, target: 'GET /nowhere' },
  ]);
});

test('the state is what was changed, and by whom, or the entries that are asked for', async () => {
  const sandbox = await start();
  await restore(sandbox, 2);
  await update(sandbox, { soundboard_id: 1, title: 'x' });
  const changed = [
    { kind: 'evaluation', id: '2', changed: true, deleted: false, restored_by: 'tester' },
    { kind: 'soundboard', id: '1', changed: true, soundboard: { soundboard_id: 1, title: 'x' } },
  ];
  const state = async (query: string) => lines((await look(sandbox, `/state${query}`)).text);
  expect(await state('')).toMatchObject(changed);
  expect(await state('?id=2&id=1&id=9999&id=x&id=0&id=1e3')).toMatchObject([
    changed[0],
    { kind: 'evaluation', id: '1', changed: false, deleted: true, evaluation: { evaluation_id: 1 } },
    { kind: 'soundboard', id: '2', changed: false },
    changed[1],
  ]);
});

test('the counts are those of the log, in which what is looked at is not', async () => {
  const sandbox = await start({ evaluations: 2 });
  const { status, body } = await look(sandbox, '/nowhere');
  expect([status, body]).toEqual([404, { error: 'there is nothing here' }]);
  for (const id of [1, 2, 3]) await restore(sandbox, id);
  await update(sandbox, { soundboard_id: 1, title: 'x' });
  expect((await look(sandbox, '/stats')).body).toEqual({
    requests: 4,
    committed: 3,
    throttled: 0,
    by_operation: { 'restore-evaluation': 3, 'update-soundboard': 1 },
    by_status: { 200: 3, 404: 1 },
    by_code: { OK: 3, NOT_FOUND: 1 },
    by_fault: { none: 4 },
    evaluations_restored: 2,
    soundboards_updated: 1,
  });
});
