import { describe, expect, test } from 'vitest';
import { scanManifest } from '../../../../src/engine/manifest/check/scan.ts';
import { createRowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import { defineOperation } from '../../../../src/engine/operation/operation.ts';
import { openText } from '../reading.ts';

const bookRoom = defineOperation({
  name: 'book-room',
  thing: 'room',
  summary: 'Book rooms',
  fields: {
    room_id: { type: 'integer', required: true },
    kind: { type: 'text', undoable: true, expects: ['QUIET', 'OPEN', 'VAULT'] },
    from: { type: 'text', undoable: true, expects: 'time' },
  },
  subject: 'room_id',
  request: (row) => ({ path: '/book', body: JSON.stringify(row) }),
  interpret: () => ({ ok: true, value: undefined }),
  columns: {},
  repeatable: true,
});

async function scan(content: string, options: { strict?: boolean; defaults?: Record<string, string> } = {}) {
  const manifest = await openText('a.csv', content);
  const preparer = createRowPreparer({ manifest, operations: [bookRoom], ...options });
  const problems: string[] = [];
  const { warnings, callable } = await scanManifest(manifest, preparer, {
    onInvalid(row) {
      for (const { column, problem, value } of row.problems)
        problems.push(`${row.line} ${column} (${value}): ${problem}`);
    },
  });
  expect(warnings.filter(({ code }) => !/^(VALUE_UNEXPECTED|DEFAULT_OVERRIDDEN)$/.test(code))).toEqual([]);
  return { warnings: warnings.map(({ message }) => message), callable, problems };
}

const content =
  'Room ID,Kind,From\n1,QUIET,2026-11-16T10:00:00Z\n2,quiet,\n3,<clear>,02.01.2026\n4,,<clear>\n';

test('a plan counts values that the API may drop, with the first of them and those that are known', async () => {
  const { warnings, callable } = await scan(content);
  expect(callable).toBe(4);
  const advice = 'the API may drop or refuse such a value; --strict refuses its row';
  const time = 'a time of RFC 3339, such as 2026-11-16T10:00:00Z';
  expect(warnings).toEqual([
    `2 cells of kind are not QUIET, OPEN or VAULT (first: \`quiet\` in row 2, line 3): ${advice}`,
    `2 cells of from are not ${time} (first: \`02.01.2026\` in row 3, line 4): ${advice}`,
  ]);
});

test('with --strict, their rows are invalid, each with its column and value', async () => {
  const { warnings, callable, problems } = await scan(content, { strict: true });
  expect(callable).toBe(1);
  expect(warnings).toEqual([]);
  const kinds = 'must be QUIET, OPEN or VAULT: the API may drop or refuse anything else (--strict)';
  const times =
    'must be a time of RFC 3339, such as 2026-11-16T10:00:00Z: the API may drop or refuse anything else (--strict)';
  expect(problems).toEqual([
    `3 Kind (quiet): ${kinds}`,
    `4 Kind (undefined): ${kinds}`,
    `4 From (02.01.2026): ${times}`,
    `5 From (undefined): ${times}`,
  ]);
});

test('old values count, too: an undo would send them', async () => {
  const { warnings } = await scan('room_id,kind,old_kind\n1,QUIET,open\n2,QUIET,OPEN\n');
  expect(warnings).toEqual([expect.stringMatching(/^1 cell of old_kind is not QUIET.*`open`/)]);
  const strict = await scan('room_id,kind,old_kind\n1,QUIET,open\n', { strict: true });
  expect(strict.problems).toEqual([expect.stringMatching(/^2 old_kind \(open\): must be QUIET/)]);
});

describe('a time of RFC 3339', () => {
  const [, , { expectation } = {}] = bookRoom.fields;

  test.each(['2026-11-16T10:00:00.5+01:00', '2026-11-16T23:59:59.123456789-11:30', '2024-02-29T00:00:00Z'])(
    'is %s',
    (text) => {
      expect(expectation?.(text)).toBeUndefined();
    },
  );

  test.each([
    ...['02.01.2026', '2026-11-16 10:00:00Z', '2026-11-16T10:00:00', '2026-11-16T10:00Z', ''],
    ...['2026-11-16t10:00:00z', '2026-11-16T10:00:00.1234567891Z', '2026-11-16T10:00:00+0100'],
    ...['2026-02-30T10:00:00Z', '2026-11-16T25:00:00Z', '0000-01-01T00:00:00Z'],
  ])('is not "%s"', (text) => {
    expect(expectation?.(text)).toBe('a time of RFC 3339, such as 2026-11-16T10:00:00Z');
  });
});
