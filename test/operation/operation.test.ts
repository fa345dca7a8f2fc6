import { describe, expect, test } from 'vitest';
import { defineOperation, type RequestDefinition } from '../../src/operation/operation.ts';

function operationOf(request: (row: { readonly id: string; readonly note?: string }) => RequestDefinition) {
  return defineOperation({
    name: 'archive-call',
    thing: 'call',
    summary: 'Archive calls',
    fields: {
      id: { type: 'integer', required: true },
      note: { type: 'text', undoable: true, option: '<text>' },
    },
    subject: 'id',
    request,
    interpret: (body, id) => {
      if (typeof body === 'string') throw new Error(body);
      return body === null
        ? { ok: true, value: { id, at: 5n } }
        : { ok: false, code: 'ANSWER_INCOMPLETE', message: 'no answer' };
    },
    repeatable: false,
    columns: { id: (value) => value.id, at: ({ at }) => at, by: () => undefined },
  });
}

describe('the request of an operation', () => {
  test.each<[string, RequestDefinition, object]>([
    ['a POST by default', { path: '/a' }, { path: '/a', body: '' }],
    ['text unchanged', { path: '/a', body: '{"id": 1}' }, { path: '/a', body: '{"id": 1}' }],
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
      'no query where none is given',
      { method: 'GET', path: '/a', query: { by: undefined } },
      { method: 'GET', path: '/a', body: '' },
    ],
  ])('has %s', (_title, definition, request) => {
    expect(operationOf(() => definition).request({ id: '1' })).toEqual(request);
  });
});

test.each([
  [
    'a path that does not begin with a slash',
    () => ({ path: 'a' }),
    'archive-call: no request for call 7: the path "a" must begin with /',
  ],
  ['a path with a blank', () => ({ path: '/a b' }), 'must begin with / and be encoded'],
  [
    'a function that fails',
    () => {
      throw new Error('why');
    },
    'archive-call: no request for call 7: why',
  ],
])('a request is refused that has %s', (_title, request, message) => {
  expect(() => operationOf(request).request({ id: '7' })).toThrow(message);
});

test('an answer on which the operation throws leaves open what was done', () => {
  expect(operationOf(() => ({ path: '/' })).check('7', 'unheard of')).toEqual({
    ok: false,
    code: 'ANSWER_INCOMPLETE',
    message: "the operation can't read the answer: unheard of",
  });
});

test('columns are cells of the answer’s value', () => {
  const operation = operationOf(({ id }) => ({ path: `/calls/${id}` }));
  expect(operation.columns).toEqual(['id', 'at', 'by']);
  expect(operation.check('7', null)).toEqual({ ok: true, columns: { id: '7', at: '5', by: '' } });
  expect(operation.check('7', {})).toMatchObject({ ok: false, code: 'ANSWER_INCOMPLETE' });
});

test('no refusal means "done already", unless the operation says which does', () => {
  const operation = operationOf(() => ({ path: '/' }));
  expect(operation.meansAlreadyApplied({ code: 'ALREADY_EXISTS', message: 'already archived' })).toBe(false);
});

test('the fields are those of the definition', () => {
  expect(operationOf(() => ({ path: '/' })).fields).toEqual([
    { name: 'id', required: true, undoable: false, option: undefined },
    { name: 'note', required: false, undoable: true, option: '<text>' },
  ]);
});
