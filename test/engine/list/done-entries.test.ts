import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { DoneEntries } from '../../../src/engine/list/done-entries.ts';
import type { ListReaderOptions } from '../../../src/engine/list/list-reader.ts';
import { defineOperation } from '../../../src/engine/operation/operation.ts';
import { clientOf, httpServer } from '../api/local-server.ts';

/** An operation that closes calls: closed ones leave the list of open ones. */
const closing = defineOperation({
  name: 'close-call',
  thing: 'call',
  summary: 's',
  fields: { id: { type: 'integer', required: true } },
  subject: 'id',
  request: () => ({ path: '/close' }),
  interpret: () => ({ ok: true, value: {} }),
  columns: {},
  repeatable: true,
  list: {
    name: 'open-calls',
    request: () => ({ path: '/open' }),
    entries: 'calls',
    next: 'next',
    fields: ['id'],
    columns: {},
    done: {
      name: 'closed-calls',
      request: (token) => ({ path: `/closed/${token ?? 1}` }),
      one: (id) => ({ path: `/calls/${id}` }),
      differs: (body) => ((body as { readonly open?: boolean }).open ? 'is open' : undefined),
    },
  },
});

const answers = (status: number, body: object) => (response: ServerResponse) =>
  void response.writeHead(status).end(JSON.stringify(body));

/** Closed calls in pages; reads of single calls are answered by `one`, without it as missing. */
async function closedCalls(
  pages: readonly (readonly number[])[],
  {
    one,
    ...options
  }: Partial<ListReaderOptions> & { one?: (response: ServerResponse, nth: number) => void } = {},
) {
  let reads = 0;
  const server = await httpServer((response, { path = '' }) => {
    const [, page] = /^\/closed\/(\d+)$/.exec(path) ?? [];
    if (page === undefined) {
      if (one === undefined) answers(404, { code: 'not_found', message: 'no such call' })(response);
      else one(response, ++reads);
      return;
    }
    const calls = (pages[Number(page) - 1] ?? []).map((id) => ({ id }));
    answers(200, { calls, next: pages[Number(page)] === undefined ? '' : String(Number(page) + 1) })(
      response,
    );
  });
  const done = closing.list?.done ?? expect.fail('it has a list');
  const read: string[] = [];
  const entries = new DoneEntries(done, {
    client: clientOf(server.url),
    attempts: 3,
    backoffMs: 1,
    maxOutageMs: null,
    spacingMs: 0,
    signal: new AbortController().signal,
    ifMissing: '',
    onReading:
      ({ name }, reader) =>
      () =>
        read.push(`${name}: ${reader.constructor.name}`),
    ...options,
  });
  onTestFinished(() => entries.close());
  const paths = () => server.seen.map(({ path }) => path);
  return { entries, paths, read };
}

test('pages are read while they may save calls, the other entries one by one', async () => {
  const one = answers(200, {});
  const { entries, paths, read } = await closedCalls([[1, 2], [3], [4], [5], [6]], { one });
  for (const id of ['1', '3', '6', '3']) entries.seek(id);
  await entries.readList();
  // Three are sought: after two pages, only one is missing.
  expect(paths()).toEqual(['/closed/1', '/closed/2']);
  for (const id of ['1', '3', '6']) expect(await entries.readEntry(id)).toEqual({ is: 'done' });
  expect(paths()).toEqual(['/closed/1', '/closed/2', '/calls/6']);
  await entries.close();
  expect(read).toEqual(['closed-calls: ListReader', 'closed-calls: EntryReader']);
});

test('nothing is read when no entry is sought', async () => {
  const { entries, paths } = await closedCalls([[1]]);
  await entries.readList();
  expect(paths()).toEqual([]);
});

test('an entry that a whole list lacks is gone without another call', async () => {
  const { entries, paths } = await closedCalls([[1], [2]]);
  for (const id of ['1', '2', '8', '9']) entries.seek(id);
  await entries.readList();
  expect(await entries.readEntry('9')).toEqual({ is: 'gone' });
  expect(paths()).toEqual(['/closed/1', '/closed/2']);
});

test('a list that changed while it was read proves nothing about an entry that it lacks', async () => {
  const { entries, paths } = await closedCalls([[1], [1, 2]]);
  for (const id of ['1', '2', '8', '9']) entries.seek(id);
  await entries.readList();
  expect(await entries.readEntry('9')).toEqual({ is: 'gone' });
  expect(paths()).toEqual(['/closed/1', '/closed/2', '/calls/9']);
});

const transient = (response: ServerResponse, nth: number): void =>
  nth < 3 ? answers(503, {})(response) : answers(200, { open: true })(response);

test.each([
  {
    answer: 'that it is open',
    one: answers(200, { open: true }),
    seen: { is: 'different', what: 'is open' },
  },
  { answer: 'NOT_FOUND', one: answers(404, { code: 'not_found', message: 'x' }), seen: { is: 'gone' } },
  { answer: 'at last', one: transient, seen: { is: 'different', what: 'is open' } },
])('a read of one entry is answered $answer', async ({ one, seen }) => {
  const { entries } = await closedCalls([[1], [2]], { one });
  entries.seek('9');
  await entries.readList();
  expect(await entries.readEntry('9')).toEqual(seen);
});

test.each([
  {
    answer: 'a router',
    one: (response: ServerResponse) => void response.writeHead(404).end('default backend - 404'),
    text: 'asked: /calls/9',
  },
  {
    answer: 'a refusal',
    one: answers(403, { code: 'permission_denied', message: 'no' }),
    text: 'no (PERMISSION_DENIED',
  },
  { answer: 'trouble that lasts', one: answers(500, { message: 'oh' }), text: 'oh (INTERNAL' },
])('$answer in place of one entry is told, and never taken for a missing entry', async ({ one, text }) => {
  const { entries } = await closedCalls([[1], [2]], { one });
  entries.seek('9');
  await entries.readList();
  await expect(entries.readEntry('9')).rejects.toMatchObject({
    code: 'ENTRY_UNREADABLE',
    message: expect.stringContaining(text),
  });
});
