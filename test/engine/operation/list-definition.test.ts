import { expect, test } from 'vitest';
import {
  type ListDefinition,
  spellingsOf,
  whyUncheckable,
} from '../../../src/engine/operation/list-definition.ts';
import { defineOperation } from '../../../src/engine/operation/operation.ts';

type List = ListDefinition<'id' | 'tags', Readonly<Record<string, unknown>>>;

const usual = {
  name: 'calls',
  request: (token) => ({ method: 'GET', path: '/calls', query: { token } }),
  entries: 'calls',
  fields: ['id', 'tags'],
  columns: { by: ({ by }) => by as string },
} satisfies List;

function listWith(list: Partial<List> = {}) {
  const operation = defineOperation({
    name: 'tag-call',
    thing: 'call',
    summary: 'Tag calls',
    fields: { id: { type: 'identifier', required: true }, tags: { type: 'json' } },
    subject: 'id',
    request: () => ({ path: '/' }),
    interpret: () => ({ ok: true as const, value: {} }),
    columns: {},
    repeatable: true,
    auth: { header: 'X-Api-Key' },
    permission: 'CALLS_EDIT',
    list: { ...usual, ...list },
  });
  if (operation.list === undefined) throw new Error('it has a list');
  return operation.list;
}

test('a page is requested as the operation calls', () => {
  expect(listWith().request('b c')).toEqual({
    method: 'GET',
    path: '/calls?token=b+c',
    body: '',
    auth: { header: 'X-Api-Key' },
  });
  expect(listWith().request(undefined).path).toBe('/calls');
  expect(listWith().permission).toBe('CALLS_EDIT');
  expect(listWith({ permission: 'CALLS_VIEW' }).permission).toBe('CALLS_VIEW');
});

test.each([
  {
    entry: { id: 'a', tags: ['x', 9007199254740993n], by: 'u' },
    read: { fields: { id: 'a', tags: '["x",9007199254740993]' }, columns: { by: 'u' } },
  },
  {
    entry: { id: 0, tags: null, by: false },
    read: { id: '0', fields: { id: '0' }, columns: { by: 'false' } },
  },
  { entry: { id: '', by: 'u' }, read: undefined },
  { entry: { other: 1 }, read: undefined },
  { entry: ['a'], read: undefined },
  { entry: 'a', read: undefined },
  { entry: null, read: undefined },
])('the entry $entry is read', ({ entry, read }) => {
  const found = listWith().read(entry);
  if (read === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(read);
});

test.each([
  { member: 'list.read', list: { read: () => 'x' as never }, problem: 'must return an object, or undefined' },
  {
    member: 'list.unfit',
    list: { unfit: () => true as never },
    problem: 'must return the reason as text, or undefined',
  },
  {
    member: 'list.columns.by',
    list: {
      columns: {
        by: () => {
          throw new Error('why');
        },
      },
    },
    problem: 'why',
  },
])('$member that fails is named', ({ member, list, problem }) => {
  expect(() => listWith(list).read({ id: 'a' })).toThrow(
    expect.objectContaining({ code: 'OPERATION_FAILED', message: `tag-call: ${member}: ${problem}` }),
  );
});

const done = {
  name: 'tagged-calls',
  request: (token) => ({ method: 'GET', path: '/tagged', query: { token } }),
  one: (id) => ({ method: 'GET', path: `/calls/${id}` }),
  differs: () => undefined,
} satisfies List['done'];

test('done entries are read like those of the list, with requests of their own', () => {
  const found = listWith({ done }).done;
  expect(found?.list).toMatchObject({ name: 'tagged-calls', entries: 'calls', fields: ['id', 'tags'] });
  expect(found?.list.request('b').path).toBe('/tagged?token=b');
  expect(found?.list.read({ id: 'a', by: 'u' })).toMatchObject({ id: 'a', columns: { by: 'u' } });
  expect(found?.one('a')).toEqual({
    method: 'GET',
    path: '/calls/a',
    body: '',
    auth: { header: 'X-Api-Key' },
  });
});

test('what a done entry differs in is a text', () => {
  const found = listWith({ done: { ...done, differs: () => 7 as never } }).done;
  expect(() => found?.differs({}, 'a')).toThrow('list.done.differs: must return the reason as text');
});

test('a member has one of two spellings', () => {
  expect(spellingsOf('next_page_token')).toEqual(['next_page_token', 'nextPageToken']);
});

test.each([
  ['without a list', undefined, 'the operation has no list'],
  [
    'whose list has only identifiers',
    listWith({ fields: ['id'] }),
    'its list shows neither their fields nor which of them are done',
  ],
  ['whose list has fields', listWith(), undefined],
  ['that says where done entries are', listWith({ fields: ['id'], done }), undefined],
])('of an operation %s, a check says why it is impossible', (_title, list, why) => {
  expect(whyUncheckable(list)).toBe(why);
});
