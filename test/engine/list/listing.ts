import type { ServerResponse } from 'node:http';
import { ListReader, type ListReaderOptions } from '../../../src/engine/list/list-reader.ts';
import type { ListedEntry } from '../../../src/engine/operation/list-definition.ts';
import { defineOperation } from '../../../src/engine/operation/operation.ts';
import { clientOf, httpServer } from '../api/local-server.ts';

/** An operation whose service lists calls in pages. */
export const archive = defineOperation({
  name: 'archive-call',
  thing: 'call',
  summary: 'Archive calls',
  fields: { call_id: { type: 'integer', required: true }, note: { type: 'text' } },
  subject: 'call_id',
  request: () => ({ path: '/archive' }),
  interpret: () => ({ ok: true, value: {} }),
  columns: {},
  repeatable: true,
  list: {
    name: 'old-calls',
    request: (token) => ({ path: '/calls', body: { token } }),
    entries: 'old_calls',
    next: 'next_page',
    fields: ['call_id', 'note'],
    columns: { by: ({ by }) => by as string },
    unfit: ({ locked }) => (locked === true ? 'is locked' : undefined),
    permission: 'CALLS_VIEW',
  },
});

export type Answer = (response: ServerResponse, token: string | undefined, call: number) => void;

/** A page of calls with these identifiers. */
export const page = (ids: readonly (number | string)[], next = ''): string =>
  JSON.stringify({ oldCalls: ids.map((callId) => ({ callId })), nextPage: next });

export const sends =
  (body: string, status = 200, headers = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** A reader of the list of a server, which answers the calls one by one. */
export async function listing(answer: Answer, options: Partial<ListReaderOptions> = {}) {
  let calls = 0;
  const server = await httpServer((response, { body }) =>
    answer(response, (JSON.parse(body) as { token?: string }).token, ++calls),
  );
  const { list } = archive;
  if (list === undefined) throw new Error('the operation has a list');
  const reader = new ListReader(list, {
    client: clientOf(server.url),
    attempts: 3,
    backoffMs: 1,
    maxOutageMs: null,
    spacingMs: 0,
    signal: new AbortController().signal,
    ifMissing: 'Make a list by hand.',
    ...options,
  });
  const read = async (): Promise<readonly ListedEntry[]> => {
    const entries: ListedEntry[] = [];
    for await (const chunk of reader.entries()) entries.push(...chunk);
    return entries;
  };
  const ids = async (): Promise<readonly string[]> => (await read()).map(({ id }) => id);
  return { server, reader, read, ids };
}
