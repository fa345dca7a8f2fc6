import { describe, expect, test } from 'vitest';
import {
  defineOperation,
  type Interpretation,
  type Operation,
} from '../../../src/engine/operation/operation.ts';
import type { RequestDefinition } from '../../../src/engine/operation/request-definition.ts';

type Request = (row: { readonly id: string; readonly note?: string }) => RequestDefinition;

function definitionWith(request: Request) {
  return {
    name: 'archive-call',
    thing: 'call',
    summary: 'Archive calls',
    fields: {
      id: { type: 'integer', required: true },
      note: { type: 'text', undoable: true, option: '<text>' },
    },
    subject: 'id',
    request,
    interpret: (body: unknown, id: string): Interpretation<{ id: string; at: bigint }> =>
      body === null
        ? { ok: true, value: { id, at: 5n } }
        : { ok: false, code: 'ANSWER_INCOMPLETE', message: 'no answer' },
    repeatable: false,
    columns: {
      id: (value: { id: string }) => value.id,
      at: ({ at }: { at: bigint }) => at,
      by: () => undefined,
    },
  } as const;
}

const operationOf = (request: Request) => defineOperation(definitionWith(request));

describe('the request of an operation', () => {
  test.each<[string, RequestDefinition, object]>([
    ['a POST by default', { path: '/a' }, { path: '/a', body: '' }],
    [
      'a value as exact JSON',
      { method: 'PATCH', path: '/a', body: { id: 9223372036854775807n, note: 'x', by: undefined } },
      { method: 'PATCH', path: '/a', body: '{"id":9223372036854775807,"note":"x"}' },
    ],
    [
      'the query after its path',
      { method: 'DELETE', path: '/a/1', query: { by: 'a&b c', note: undefined } },
      { method: 'DELETE', path: '/a/1?by=a%26b+c', body: '' },
    ],
    [
      'headers by lower-case name',
      { path: '/a', headers: { 'If-Match': '"v 7"', Prefer: undefined, 'Content-Type': 'application/x' } },
      { path: '/a', headers: { 'if-match': '"v 7"', 'content-type': 'application/x' }, body: '' },
    ],
  ])('has %s', (_title, definition, request) => {
    expect(operationOf(() => definition).request({ id: '1' })).toEqual(request);
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['a line end in a value', { 'If-Match': 'a\r\nX-Admin: 1' }, "the header if-match can't have the value"],
    ['a character that is not ASCII', { Prefer: 'naïve' }, 'visible ASCII characters'],
    ['an empty value', { Prefer: '' }, 'visible ASCII characters'],
    ['a line end in a name', { 'a\r\nb': 'a' }, "can't be the name of a header"],
    ['the token', { Authorization: 'Bearer x' }, 'the client sets the header authorization itself'],
    ['a key of its own', { 'Idempotency-Key': 'a' }, 'by its member idempotencyKey: true'],
  ])('never has %s', (_title, headers, problem) => {
    const { request } = operationOf(() => ({ path: '/a', headers }));
    expect(() => request({ id: '1' })).toThrow(problem);
  });

  test('has a key only if it may be repeated', () => {
    const definition = { ...definitionWith(() => ({ path: '/a' })), idempotencyKey: true };
    expect(() => defineOperation({ ...definition, repeatable: false })).toThrow(
      'repeatable: must be true with idempotencyKey',
    );
    expect(defineOperation({ ...definition, repeatable: true }).key).toBe('by run');
  });

  test('has the key that the operation makes of its row', () => {
    const keyed = (idempotencyKey: (row: { readonly id: string }) => string) =>
      defineOperation({
        ...definitionWith(() => ({ path: '/a', headers: { Prefer: 'x' } })),
        repeatable: true,
        idempotencyKey,
      });
    const operation = keyed(({ id }) => `order-${id}`);
    expect(operation.key).toBe('by row');
    expect(operation.request({ id: '7' }).headers).toEqual({ prefer: 'x', 'idempotency-key': 'order-7' });
    expect(() => keyed(() => 'a\nb').request({ id: '7' })).toThrow(
      "idempotencyKey: the header idempotency-key can't have the value",
    );
  });
});

const thrown = () => {
  throw new Error('why');
};
const late = () => Promise.reject(new Error('why'));
const refusal = { code: 'NOT_FOUND', message: 'no call' };
const shape = 'must return { ok: true, value } or { ok: false, code, message }';

/** How the engine uses a member. */
const uses: Readonly<Record<string, (operation: Operation) => unknown>> = {
  check: ({ schema }) => schema.parse({ id: '7' }),
  request: ({ request }) => request({ id: '7' }),
  interpret: ({ check }) => check('7', null),
  'columns.at': ({ check }) => check('7', null),
  meansAlreadyApplied: ({ meansAlreadyApplied }) => meansAlreadyApplied(refusal),
  meansDone: ({ meansDone }) => meansDone(refusal),
};

const byId = defineOperation({
  ...definitionWith(() => ({ path: '/' })),
  request: ({ id }) => ({ method: 'DELETE', path: `/v1/calls/${id}/recording` }),
});

test.each([
  ...['.', '..', '%2e', '%2E%2e', '.%2E', '..;x', 'a/../b', ''],
  ...['\\..\\', '..%2Fx', 'x%2f..', 'x%5C%2e%2e%5Cy'],
])('an identifier that would lead to another path is refused: %j', (id) => {
  expect(() => byId.request({ id })).toThrow('servers and proxies would take it for another path');
});

test.each(['...', '.a', 'a..b', '%2e%2e%2e', '%252e', 'https%3A%2F%2Fx', 'a%3Fb'])(
  'an identifier with dots and slashes is sent as it is: %j',
  (id) => {
    const { path } = byId.request({ id });
    expect(path).toBe(`/v1/calls/${id}/recording`);
    expect(new URL(path, 'https://api.example').pathname).toBe(path);
  },
);

test.each<[string, () => unknown, string]>([
  ...Object.keys(uses).flatMap((member): [string, () => unknown, string][] => [
    [member, thrown, 'why'],
    [member, late, 'must not be async'],
  ]),
  ['check', () => true, 'must return the problem as text, or undefined'],
  ['request', () => ({ path: 'a' }), 'the path "a" must begin with / and be encoded (encodeURIComponent)'],
  [
    'request',
    () => ({ path: '/', method: 'get' }),
    'the method must be one of GET, POST, PUT, PATCH, DELETE',
  ],
  ['request', () => ({ path: '/', bodi: {} }), 'there is no member "bodi"; did you mean body?'],
  ['interpret', () => ({ ok: false }), shape],
  ['interpret', () => ({ value: 1 }), shape],
])('%s that is %o fails with the names of operation and member', (member, own, problem) => {
  const [name = '', column] = member.split('.');
  const members = { [name]: column === undefined ? own : { [column]: own } };
  const operation = defineOperation({
    ...definitionWith(() => ({ path: '/' })),
    interpret: () => ({ ok: true, value: { id: '7', at: 5n } }),
    ...(members as object),
  });
  expect(() => uses[member]?.(operation)).toThrow(
    expect.objectContaining({ code: 'OPERATION_FAILED', message: `archive-call: ${member}: ${problem}` }),
  );
});

const tagging = defineOperation({
  ...{
    name: 'create-tag',
    thing: 'tag',
    summary: 'Create tags',
    subject: 'id',
    columns: {},
    repeatable: true,
  },
  fields: { id: { type: 'identifier', required: true }, tags: { type: 'json' } },
  check: ({ tags }) => (Array.isArray(tags) && tags.length === 0 ? 'has no tags' : undefined),
  request: ({ id, tags }) => ({ path: '/tags', body: { id, tags } }),
  interpret: () => ({ ok: true as const, value: undefined }),
});

test.each<[unknown, string]>([
  [[1, { a: 9007199254740993n }], '[1,{"a":9007199254740993}]'],
  [' { "a" : [ 1.50 ] } ', '{"a":[1.50]}'],
  ['["x"]', '["x"]'],
])('a list or an object %o is sent as it is', (tags, text) => {
  const row = tagging.schema.parse({ id: '1', tags });
  expect(row['tags']).toBe(text.replace('1.50', '1.5'));
  expect(tagging.request(row).body).toBe(`{"id":"1","tags":${row['tags']}}`);
});

test.each([['x'], ['"x"'], ['7'], [7], [true], ['{"a":}'], ['']])('%j is no list or object', (tags) => {
  const { error } = tagging.schema.safeParse({ id: '1', tags });
  expect(error?.issues[0]?.message).toMatch(/^must be a list or an object/);
});

test('checks get lists as values', () => {
  expect(tagging.schema.safeParse({ id: '1', tags: '[]' }).error?.issues[0]?.message).toBe('has no tags');
});
