import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requireValid } from '../../../src/engine/operation/definition-rules.ts';

const ignore = (): void => {};

const done = { name: 'closed-calls', request: ignore, one: ignore, differs: ignore };

const list = {
  name: 'open-calls',
  request: ignore,
  entries: 'calls',
  next: 'next_page',
  read: ignore,
  fields: ['call_id', 'reason'],
  columns: {},
  unfit: ignore,
  absent: 'is not open',
  computed: ['reason'],
  permission: 'CALLS_LIST',
  done,
};

/** A definition with all members. */
const definition = {
  name: 'archive-call',
  thing: 'call',
  done: 'archived',
  summary: 'Archive calls',
  fields: { call_id: { type: 'integer', required: true }, reason: { type: 'text' } },
  subject: 'call_id',
  check: ignore,
  request: ignore,
  interpret: ignore,
  columns: {},
  repeatable: true,
  idempotencyKey: true,
  auth: 'bearer',
  mayReset: true,
  permission: 'CALLS_EDIT',
  meansAlreadyApplied: ignore,
  meansDone: ignore,
  list,
};

/** The members in each table of the page, and whether the page says that they are optional. */
const tables = readFileSync('docs/operations.md', 'utf8')
  .split('| member | |\n|---|---|\n')
  .slice(1)
  .map((text) =>
    [...(/^(?:\|.*\n)+/.exec(text)?.[0] ?? '').matchAll(/^\| `(\w+)` \| (optional)?/gm)].map(
      ([, name = '', optional]) => ({ name, isOptional: optional !== undefined }),
    ),
  );

const isValid = (changed: object): boolean => {
  try {
    requireValid(changed);
    return true;
  } catch {
    return false;
  }
};

test.each([
  ['an operation', 0, definition, (part: object) => part],
  ['a list', 1, list, (part: object) => ({ ...definition, list: part })],
  ['a list of done entries', 2, done, (part: object) => ({ ...definition, list: { ...list, done: part } })],
] as const)(
  'docs/operations.md has each member of %s, and says which may be left out',
  (_, index, whole, within) => {
    const members = tables[index] ?? [];
    expect(isValid(within(whole))).toBe(true);
    expect(members.map(({ name }) => name).toSorted()).toEqual(Object.keys(whole).toSorted());
    for (const { name, isOptional } of members) {
      const { [name]: _left, ...rest } = whole as Readonly<Record<string, unknown>>;
      expect([name, isValid(within(rest))]).toEqual([name, isOptional]);
    }
  },
);
