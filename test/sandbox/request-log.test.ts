import { expect, test } from 'vitest';
import type { RequestRecord } from '../../src/sandbox/request-log.ts';
import { RequestLog } from '../../src/sandbox/request-log.ts';

function record(id: string, rest: Partial<RequestRecord> = {}): RequestRecord {
  return {
    operation: 'restore-evaluation',
    target: undefined,
    id,
    nth: 1,
    userId: 'u',
    body: Buffer.from('{}'),
    code: 'OK',
    committed: true,
    fault: undefined,
    throttled: false,
    ...rest,
  };
}

test('an entry has its status from the moment at which it was sent', () => {
  const log = new RequestLog({ limit: 10, body: 'none' });
  const sent = log.append(record('1'));
  expect([...log.entries()]).toMatchObject([{ seq: 1, id: '1', status: null }]);
  sent(200);
  expect([...log.entries()]).toMatchObject([{ seq: 1, id: '1', status: 200 }]);
  expect(log.counts.by_status).toEqual({ 200: 1 });
});

test('the oldest entries go first, the numbers go on and the counts stay', () => {
  const log = new RequestLog({ limit: 3, body: 'none' });
  for (let id = 1; id <= 8; id++) log.append(record(String(id)));
  expect([...log.entries()].map(({ seq, id }) => [seq, id])).toEqual([
    [6, '6'],
    [7, '7'],
    [8, '8'],
  ]);
  expect([...log.entries(7)].map(({ seq }) => seq)).toEqual([8]);
  expect([...log.entries(8)]).toEqual([]);
  expect(log.kept).toBe(3);
  expect(log.counts).toMatchObject({ requests: 8, committed: 8 });
});

test('entries that are dropped while somebody reads are left out', () => {
  const log = new RequestLog({ limit: 3, body: 'none' });
  for (const id of ['1', '2', '3']) log.append(record(id));
  const reading = log.entries();
  expect(reading.next().value).toMatchObject({ seq: 1, id: '1' });
  for (const id of ['4', '5']) log.append(record(id));
  expect([...reading].map(({ seq, id }) => [seq, id])).toEqual([[3, '3']]);
});

test.each([
  ['none', {}],
  ['text', { body: '{"title":"é"}' }],
  ['sha256', { body_sha256: '17fc9dbaed22ce2d07e9a2bb624e57b3cd39cd72e937e0dd0eb4ddf8f03190d6' }],
] as const)('of a body it keeps: %s', (body, expected) => {
  const log = new RequestLog({ limit: 3, body });
  log.append(record('1', { body: Buffer.from('{"title":"é"}') }));
  const [entry] = log.entries();
  expect({
    ...(entry?.body !== undefined && { body: entry.body }),
    ...(entry?.body_sha256 !== undefined && { body_sha256: entry.body_sha256 }),
  }).toEqual(expected);
});

test('whoever waits for a number of requests is told when they have arrived', async () => {
  const log = new RequestLog({ limit: 10, body: 'none' });
  let told = false;
  const waiting = log.whenCount(2).then(() => {
    told = true;
  });
  log.append(record('1'));
  await Promise.resolve();
  expect(told).toBe(false);
  log.append(record('2'));
  await waiting;
  await log.whenCount(2);
});

test('after clearing, numbers and counts begin again', () => {
  const log = new RequestLog({ limit: 10, body: 'none' });
  const sent = log.append(record('1'));
  log.clear();
  sent(200);
  log.append(record('2'));
  expect([...log.entries()].map(({ seq, id }) => [seq, id])).toEqual([[1, '2']]);
  expect(log.counts).toMatchObject({ requests: 1, by_status: {} });
});
