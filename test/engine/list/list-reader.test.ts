import { expect, test } from 'vitest';
import { type Answer, listing, page, sends } from './listing.ts';

/** Pages by token; the first one has none. */
const paged =
  (pages: Readonly<Record<string, string>>): Answer =>
  (response, token = 'first') =>
    void response.writeHead(200).end(pages[token]);

test('all pages are read, one after the other, with one trace', async () => {
  const { ids, reader, server } = await listing(
    paged({ first: page([1, 2], 'b'), b: page([3], 'c'), c: page([]) }),
  );
  expect(await ids()).toEqual(['1', '2', '3']);
  expect(reader).toMatchObject({ listed: 3, pages: 3, repeats: 0, unreadable: 0 });
  expect(server.seen.map(({ body }) => body)).toEqual(['{}', '{"token":"b"}', '{"token":"c"}']);
  const traces = server.seen.map(({ headers }) => String(headers['traceparent']).split('-'));
  expect(new Set(traces.map(([, trace]) => trace)).size).toBe(1);
  expect(new Set(traces.map(([, , parent]) => parent)).size).toBe(3);
});

test.each([
  {
    shape: 'snake_case',
    body: '{"old_calls":[{"call_id":9007199254740993,"note":"n","by":"u"}],"next_page":""}',
  },
  {
    shape: 'camelCase, with 64 bits as text',
    body: '{"oldCalls":[{"callId":"9007199254740993","note":"n","by":"u"}]}',
  },
  {
    shape: 'a page token that is null',
    body: '{"old_calls":[{"call_id":9007199254740993,"note":"n","by":"u"}],"next_page":null}',
  },
  {
    shape: 'a prefix before the JSON',
    body: ")]}',\n" + '{"old_calls":[{"call_id":9007199254740993,"note":"n","by":"u"}]}',
  },
])('an entry is read from an answer in $shape', async ({ body }) => {
  const { read } = await listing(sends(body));
  expect(await read()).toEqual([
    { id: '9007199254740993', fields: { call_id: '9007199254740993', note: 'n' }, columns: { by: 'u' } },
  ]);
});

test('what the service leaves out of an entry is absent, and an entry that does not fit says why', async () => {
  const { read } = await listing(
    sends('{"old_calls":[{"call_id":1,"note":"","by":null},{"call_id":2,"locked":true}]}'),
  );
  expect(await read()).toEqual([
    { id: '1', fields: { call_id: '1' }, columns: {} },
    { id: '2', fields: { call_id: '2' }, columns: {}, unfit: 'is locked' },
  ]);
});

test.each(['{}', '{"old_calls":null}', '{"oldCalls":[],"nextPage":""}'])(
  '%s is an empty list',
  async (body) => {
    const { ids, reader } = await listing(sends(body));
    expect(await ids()).toEqual([]);
    expect(reader.listed).toBe(0);
  },
);

test('an entry that is listed repeats is given once, and told; so is one without an identifier', async () => {
  const last = '{"old_calls":[{"call_id":2},{"note":"who?"},{"call_id":3},{"call_id":3},7]}';
  const { ids, reader } = await listing(paged({ first: page([1, 2], 'b'), b: last }));
  expect(await ids()).toEqual(['1', '2', '3']);
  expect(reader).toMatchObject({ listed: 3, repeats: 2, unreadable: 2 });
});

/** Sends the beginning of a page, then closes the connection. */
const cutOff: Answer = (response) => {
  response.writeHead(200, { 'content-length': 1_000 });
  response.write('{"old_calls":[{"call_id":1},{"call_id":2},{"call', () => response.destroy());
};

test.each([
  { trouble: 'that is cut off', first: cutOff },
  { trouble: 'that ends too early', first: sends('{"old_calls":[{"call_id":1},{"call_id":2}') },
  { trouble: 'without JSON', first: sends('<html><title>Sign in</title>') },
  { trouble: '500', first: sends('{"code":13,"message":"oops"}', 500) },
  { trouble: '503 with a time to wait', first: sends('', 503, { 'retry-after-ms': '1' }) },
  { trouble: '429', first: sends('', 429, { 'retry-after-ms': '1' }) },
])('a page is read again after an answer $trouble, and its entries count once', async ({ first }) => {
  const whole = sends(page([1, 2, 3]));
  const { ids, reader } = await listing((...call) => (call[2] === 1 ? first : whole)(...call));
  expect(await ids()).toEqual(['1', '2', '3']);
  expect(reader).toMatchObject({ listed: 3, repeats: 0, pages: 1 });
});

test.each([
  {
    answer: sends('{"code":7,"message":"no"}', 403),
    code: 'LIST_FORBIDDEN',
    message:
      'The API does not let you list old calls: no (most likely CALLS_VIEW is missing). Ask for the permission',
  },
  {
    answer: sends('{"code":5,"message":"Not Found","details":[]}', 404),
    code: 'LIST_MISSING',
    message: 'This service does not list old calls: The server answered 404 with "Not Found"',
  },
  {
    answer: sends('default backend - 404', 404),
    code: 'LIST_MISSING',
    message: 'with text ("default backend - 404") instead of JSON',
  },
  {
    answer: sends('{"code":12,"message":"no lists"}', 501),
    code: 'LIST_MISSING',
    message: '(asked: /calls)',
  },
  { answer: sends('', 405), code: 'LIST_MISSING', message: 'This service does not list old calls' },
  {
    answer: sends('{"code":3,"message":"no size"}', 400),
    code: 'LIST_UNREADABLE',
    message: "Can't list the old calls: no size (INVALID_ARGUMENT; asked: /calls)",
  },
  { answer: sends('', 401), code: 'LIST_UNREADABLE', message: 'The API rejected the token (UNAUTHENTICATED' },
  {
    answer: sends('<html><title>Sign in</title>'),
    code: 'LIST_UNREADABLE',
    message: 'The answer is not a list',
  },
  { answer: sends('{"items":[1]}'), code: 'LIST_UNREADABLE', message: 'it has no "old_calls"' },
  { answer: sends('[1]'), code: 'LIST_UNREADABLE', message: 'it is no object' },
  {
    answer: sends('', 500),
    code: 'LIST_UNREADABLE',
    message: 'The server answered 500 without saying why (INTERNAL',
  },
])("a list that can't be read is told: $code, $message", async ({ answer, code, message }) => {
  const { ids } = await listing(answer);
  await expect(ids()).rejects.toMatchObject({
    kind: 'fatal',
    code,
    message: expect.stringContaining(message),
  });
});

test('a page token that is refused says that the list has changed, and how far it was read', async () => {
  const refusal = sends('{"code":3,"message":"invalid page_token"}', 400);
  const { ids } = await listing((...call) =>
    (call[1] === undefined ? sends(page([1, 2], 'b')) : refusal)(...call),
  );
  await expect(ids()).rejects.toMatchObject({
    code: 'LIST_CHANGED',
    message: expect.stringContaining('refuses page 2 of the old calls, after 2 of them: invalid page_token'),
  });
});

test.each([
  {
    list: 'one page for ever',
    answer: paged({ first: page([1], 'a'), a: page([1], 'a') }),
    message: 'a page names an earlier one as the next, so it has no end',
  },
  {
    list: 'empty pages for ever',
    answer: ((response, token = '0') =>
      void response.end(page([], String(Number(token) + 1)))) satisfies Answer,
    message: '1000 pages in a row list nothing new, so it has no end',
  },
])('a list of $list ends', async ({ answer, message }) => {
  const { ids } = await listing(answer);
  await expect(ids()).rejects.toMatchObject({
    code: 'LIST_UNREADABLE',
    message: expect.stringContaining(message),
  });
});

test('the attempts for a page are bounded, and so is the time without progress', async () => {
  const { ids, server } = await listing(sends('', 500), { attempts: 2 });
  await expect(ids()).rejects.toMatchObject({ code: 'LIST_UNREADABLE' });
  expect(server.seen).toHaveLength(2);
  const refused = await listing(sends('', 429, { 'retry-after-ms': '1' }), { maxOutageMs: 0 });
  await expect(refused.ids()).rejects.toMatchObject({
    message: expect.stringContaining('RESOURCE_EXHAUSTED'),
  });
});

test('a stop ends the call in flight, and a wait', async () => {
  const stop = new AbortController();
  const { ids } = await listing(() => stop.abort(), { signal: stop.signal });
  await expect(ids()).rejects.toThrow('aborted');
  const waits = new AbortController();
  const slow = await listing(sends('', 429, { 'retry-after': '3600' }), { signal: waits.signal });
  const ended = expect(slow.ids()).rejects.toThrow('aborted');
  await expect.poll(() => slow.reader.waiting?.why).toBe('Retry-After: 3600');
  waits.abort();
  await ended;
});

test('calls have their distance', async () => {
  const stop = new AbortController();
  const options = { spacingMs: 3_600_000, signal: stop.signal };
  const { ids, reader, server } = await listing(sends(page([1], 'b')), options);
  const ended = expect(ids()).rejects.toThrow('aborted');
  await expect.poll(() => reader.waiting?.why).toBe('the rate (--rate)');
  expect({ calls: server.seen.length, listed: reader.listed }).toEqual({ calls: 1, listed: 1 });
  stop.abort();
  await ended;
});

test('a reader that stops early gives the connection back', async () => {
  const { reader, server } = await listing(sends(page([1, 2], 'b')));
  for await (const _ of reader.entries()) break;
  expect(server.seen).toHaveLength(1);
});

test('the token never stands in what is listed', async () => {
  const { read } = await listing(sends('{"old_calls":[{"call_id":1,"note":"Bearer secret-token"}]}'));
  expect(await read()).toMatchObject([{ fields: { note: 'Bearer [token]' } }]);
});

test('an answer in gzip or Brotli is read part by part, and one that is larger than the client holds', async () => {
  const { brotliCompressSync, gzipSync } = await import('node:zlib');
  const ids = Array.from({ length: 5_000 }, (_, index) => 10 ** 15 + index);
  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const) {
    const answer: Answer = (response) =>
      void response.writeHead(200, { 'content-encoding': encoding }).end(compress(page(ids)));
    const small = await listing(answer);
    expect(await small.ids(), encoding).toEqual(ids.map(String));
  }
  const broken = await listing(
    (response) => void response.writeHead(200, { 'content-encoding': 'br' }).end('{}'),
    { attempts: 1 },
  );
  await expect(broken.ids()).rejects.toMatchObject({
    message: expect.stringContaining("can't be decompressed"),
  });
});
