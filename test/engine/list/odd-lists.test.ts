import { expect, onTestFinished, test } from 'vitest';
import { openEntryLists } from '../../../src/engine/list/entry-lists.ts';
import { ListComparer } from '../../../src/engine/list/list-comparer.ts';
import { defineOperation } from '../../../src/engine/operation/operation.ts';
import type { Row } from '../../../src/engine/operation/row-fields.ts';
import type { CallableRow } from '../../../src/engine/rows/row.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { clientOf, httpServer } from '../api/local-server.ts';
import { type Answer, sends } from './listing.ts';

const edit = defineOperation({
  name: 'edit-book',
  thing: 'book',
  summary: 'Edit books',
  fields: {
    book_id: { type: 'integer', required: true },
    title: { type: 'text' },
    pages: { type: 'integer' },
  },
  subject: 'book_id',
  request: (row) => ({ path: '/edit', body: row }),
  interpret: () => ({ ok: true, value: {} }),
  columns: {},
  repeatable: true,
  list: {
    name: 'books',
    request: (token) => ({ path: '/books', body: { token } }),
    entries: 'books',
    next: 'next_page',
    fields: ['book_id', 'title', 'pages'],
    columns: {},
    absent: 'does not exist',
  },
});

const rowOf = (values: Row): CallableRow => ({
  kind: 'callable',
  row: 1,
  line: 2,
  operation: edit,
  subject: values['book_id'] ?? '',
  values,
  requestDigest: '',
});

/** A comparison with the list of a server, which answers the calls for its pages one by one. */
async function comparison(answer: Answer) {
  let calls = 0;
  const server = await httpServer((response, { body }) =>
    answer(response, (JSON.parse(body) as { token?: string }).token, ++calls),
  );
  const releases: (() => unknown)[] = [];
  onTestFinished(async () => {
    for (const release of releases) await release();
  });
  const lists = openEntryLists(
    {
      client: clientOf(server.url),
      folder: await temporaryFolder(),
      attempts: 2,
      backoffMs: 1,
      maxOutageMs: null,
      spacingMs: 0,
      ifMissing: 'Leave out --compare.',
      signal: new AbortController().signal,
    },
    (release) => releases.push(release),
  );
  const comparer = new ListComparer(lists, [edit], 'look at the entry');
  return {
    server,
    async compare(values: Row) {
      await comparer.begin('edit-book');
      return comparer.compare(rowOf(values));
    },
    warnings: () => comparer.warnings().map(({ message }) => message),
  };
}

const changes = (values: Row, old: Row) => ({ kind: 'fits', isAsWanted: false, row: { values, old } });
const asWanted = { kind: 'fits', isAsWanted: true };
const misfit = (problem: string) => ({ kind: 'misfit', problem: { column: 'book_id', problem, value: '1' } });

test.each([
  { list: 'that is empty', body: '{}', verdict: misfit('does not exist'), warned: [] },
  {
    list: 'with another entry',
    body: '{"books":[{"book_id":11,"title":"Old"}]}',
    verdict: misfit('does not exist'),
    warned: [],
  },
  {
    list: 'with identifiers and numbers as text',
    body: '{"books":[{"bookId":"1","title":"Old","pages":"9007199254740993"}]}',
    verdict: changes({ book_id: '1', title: 'New', pages: '9007199254740993' }, { title: 'Old' }),
    warned: [],
  },
  {
    list: 'with numbers beyond those of JavaScript',
    body: '{"books":[{"book_id":1,"title":"Old","pages":9007199254740993}]}',
    verdict: changes({ book_id: '1', title: 'New', pages: '9007199254740993' }, { title: 'Old' }),
    warned: [],
  },
  {
    list: 'without fields that are empty or zero',
    body: '{"books":[{"book_id":1}]}',
    verdict: changes({ book_id: '1', title: 'New' }, { title: '' }),
    warned: [],
  },
  {
    list: 'with null for what is empty',
    body: '{"books":[{"book_id":1,"title":null,"pages":null}]}',
    verdict: changes({ book_id: '1', title: 'New' }, { title: '' }),
    warned: [],
  },
  {
    list: 'with an entry twice, of which the first counts',
    body: '{"books":[{"book_id":1,"title":"New"},{"book_id":"1","title":"Old"}]}',
    verdict: asWanted,
    warned: [
      'the list of books has changed while it was read (an entry was listed again once), so entries may be missing, and their rows be invalid',
    ],
  },
  {
    list: 'with entries that have no identifier',
    body: '{"books":[{"title":"Old"},{"book_id":"","title":"Old"},7]}',
    verdict: misfit('does not exist'),
    warned: ['3 of the books have no readable identifier: rows for them are invalid'],
  },
])('a row is compared with a list $list', async ({ body, verdict, warned }) => {
  const { compare, warnings } = await comparison(sends(body));
  expect(await compare({ book_id: '1', title: 'New' })).toMatchObject(verdict);
  expect(warnings()).toEqual(warned);
});

test.each([
  { what: 'empty text', values: { title: '' }, verdict: asWanted },
  { what: 'zero', values: { pages: '0' }, verdict: asWanted },
  { what: 'a value', values: { pages: '7' }, verdict: changes({ book_id: '1', pages: '7' }, { pages: '0' }) },
])('a row that wants $what of a field that is left out', async ({ values, verdict }) => {
  const { compare } = await comparison(sends('{"books":[{"book_id":1}]}'));
  expect(await compare({ book_id: '1', ...values })).toMatchObject(verdict);
});

test('a refusal in the middle of a list is waited for, and costs no entry', async () => {
  const { compare, warnings, server } = await comparison((response, token, call) => {
    if (token === undefined) sends('{"books":[{"book_id":2}],"next_page":"b"}')(response, token, call);
    else if (call < 4) sends('', 429, { 'retry-after-ms': '1' })(response, token, call);
    else sends('{"books":[{"book_id":1,"title":"Old"}]}')(response, token, call);
  });
  expect(await compare({ book_id: '1', title: 'New' })).toMatchObject(
    changes({ book_id: '1', title: 'New' }, { title: 'Old' }),
  );
  expect(warnings()).toEqual([]);
  expect(server.seen).toHaveLength(4);
});

test('rows of a list that ends early are not compared, and the next row reads nothing again', async () => {
  const { compare, server } = await comparison((response, token, call) =>
    token === undefined
      ? sends('{"books":[{"book_id":1}],"next_page":"b"}')(response, token, call)
      : sends('{"code":3,"message":"expired"}', 400)(response, token, call),
  );
  const failed = { code: 'LIST_CHANGED', message: expect.stringContaining('refuses page 2 of the books') };
  await expect(compare({ book_id: '1' })).rejects.toMatchObject(failed);
  await expect(compare({ book_id: '1' })).rejects.toMatchObject(failed);
  expect(server.seen).toHaveLength(2);
});
