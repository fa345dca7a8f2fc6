import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chosenBy, parseCondition } from '../../../src/manifest/columns/where.ts';
import { allRows, openText } from '../reading.ts';

const holds = (condition: string, cell: string): boolean => parseCondition(condition).holds(cell);

describe('a condition', () => {
  test.each([
    ['by=u-17', ['u-17'], ['u-18', 'U-17', '']],
    ['by!=u-17', ['u-18', ''], ['u-17']],
    ['by=', [''], ['x']],
    ['by!=', ['x'], ['']],
    ['note~delete', ['was deleted'], ['Delete', '']],
    ['name<b', ['a', ''], ['b', 'c']],
    // Numbers, including those that JavaScript would round.
    ['n=7', ['7', '007', '7.0'], ['70', 'seven', '']],
    ['n>=10', ['10', '10.5', '9223372036854775807'], ['9', '9.99', '', 'n/a']],
    ['n<10', ['9', '-1'], ['10', '', 'n/a']],
    ['n=9007199254740993', ['9007199254740993'], ['9007199254740992']],
    ['n!=7', ['8', 'seven', ''], ['7', '07']],
    ['n<=2.5', ['2.5', '-3', '1e-3'], ['2.51', '3']],
    // Times, in UTC where they name no zone; a date is its first moment.
    [
      'at>=2026-11-16',
      ['2026-11-16', '2026-11-16T00:00:00Z', '2026-11-16 08:00'],
      ['2026-11-15T23:59:59.999Z', '', 'Monday'],
    ],
    [
      'at<2026-11-16T10:00+02:00',
      ['2026-11-16T07:59Z', '2026-11-15'],
      ['2026-11-16T08:00:00Z', '2026-11-17'],
    ],
    ['at=2026-11-16', ['2026-11-16T00:00Z', '2026-11-16T01:00+01:00'], ['2026-11-16T10:00Z']],
    ['at~2026-11-16', ['2026-11-16T10:00Z'], ['2026-11-17']],
  ])('%s holds for %j and not for %j', (condition, those, others) => {
    expect(those.filter((cell) => !holds(condition, cell))).toEqual([]);
    expect(others.filter((cell) => holds(condition, cell))).toEqual([]);
  });

  test.each(['', 'deleted_by', '=x', ' >=5'])('is not %j', (text) => {
    expect(() => parseCondition(text)).toThrow(
      'write a column, a comparison and a value, as "deleted_by=u-17"',
    );
  });

  test('and its opposite divide all cells', () => {
    // A text that begins with = would make it another comparison.
    const text = fc.string().filter((value) => !value.trim().startsWith('='));
    const cell = fc.oneof(text, fc.integer().map(String), fc.constantFrom('2026-11-16', '7.0', ''));
    fc.assert(
      fc.property(cell, cell, (value, other) => {
        expect(holds(`a=${value}`, other)).toBe(!holds(`a!=${value}`, other));
        expect(holds(`a=${value}`, value.trim())).toBe(true);
        const ordered = ['<', '=', '>'].filter((operator) => holds(`a${operator}${value}`, other));
        expect(ordered.length).toBeLessThanOrEqual(1);
        expect(holds(`a<=${value}`, other)).toBe(ordered[0] === '<' || ordered[0] === '=');
        expect(holds(`a>=${value}`, other)).toBe(ordered[0] === '>' || ordered[0] === '=');
      }),
    );
  });
});

describe('the rows of a manifest', () => {
  const csv =
    'ID,Deleted by,when\n1,u-17,2026-11-16\n2,u-18,2026-11-16\n3,u-17,2026-11-15\n4,u-17,2026-11-17\nbroken\n';
  const choose = async (content: string, ...conditions: string[]) =>
    chosenBy(conditions, await openText('a', content));

  test('are those for which all conditions hold, renumbered, and those that cannot be read', async () => {
    const manifest = await choose(csv, 'deleted_by=u-17', 'when>=2026-11-16');
    const rows = await allRows(manifest);
    expect(rows.map(({ row, line, cells }) => [row, line, cells['ID']])).toEqual([
      [1, 2, '1'],
      [2, 5, '4'],
      [3, 6, 'broken'],
    ]);
    expect(manifest.leftOut?.()).toBe(2);
    await allRows(manifest);
    expect(manifest.leftOut?.()).toBe(2);
  });

  test('may be values of JSON; a row without the key counts as empty', async () => {
    const json =
      '[{"id":1,"n":5},{"id":2,"n":null},{"id":3},{"id":4,"n":9223372036854775807},{"id":5,"n":true}]';
    const idsOf = async (...conditions: string[]) =>
      (await allRows(await choose(json, ...conditions))).map(({ cells }) => String(cells['id']));
    expect(await idsOf('n>=5')).toEqual(['1', '4']);
    expect(await idsOf('n=')).toEqual(['2', '3']);
    expect(await idsOf('n=true')).toEqual(['5']);
  });

  test.each([
    ['CSV, before a row is read', csv],
    ['JSON, when all rows were read', '[{"ID":"1"},{"Deleted by":"x"},{"when":"y"}]'],
  ])('are refused when no column has the title: %s', async (_title, content) => {
    await expect(choose(content, 'ID=1', 'deletd_by=x').then(allRows)).rejects.toMatchObject({
      ...{ kind: 'usage', code: 'WHERE_UNKNOWN_COLUMN' },
      message: '--where "deletd_by=x": a has no column "deletd_by"; it has "ID", "Deleted by", "when"',
    });
  });
});
