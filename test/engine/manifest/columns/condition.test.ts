import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCondition } from '../../../../src/engine/manifest/columns/condition.ts';

const holds = (condition: string, cell: string): boolean => parseCondition(condition).isMetBy(cell) === true;

describe('a condition', () => {
  test.each([
    ['by=u-17', ['u-17'], ['u-18', 'U-17', '']],
    ['by!=u-17', ['u-18', ''], ['u-17']],
    ['note~delete', ['was deleted'], ['Delete', '']],
    // Numbers, including those that JavaScript would round.
    ['n=7', ['7', '007', '7.0'], ['70', 'seven', '']],
    ['n>=10', ['10', '10.5', '9223372036854775807'], ['9', '9.99', '', 'n/a']],
    ['n=9007199254740993', ['9007199254740993'], ['9007199254740992']],
    // Times, in UTC where they name no zone; a date is its first moment.
    ['at>=2026-11-16', ['2026-11-16', '2026-11-16 08:00'], ['2026-11-15T23:59:59.999Z', '', 'Monday']],
    ['at<2026-11-16T10:00+02:00', ['2026-11-16T07:59Z', '2026-11-15'], ['2026-11-16T08:00:00Z']],
    ['at=2026-11-16', ['2026-11-16T00:00Z', '2026-11-16T01:00+01:00'], ['2026-11-16T10:00Z']],
  ])('%s holds for %j and not for %j', (condition, those, others) => {
    expect(those.filter((cell) => !holds(condition, cell))).toEqual([]);
    expect(others.filter((cell) => holds(condition, cell))).toEqual([]);
  });

  test('and its opposite divide all cells that compare with the value', () => {
    // These would be other comparisons, or two conditions.
    const text = fc
      .string()
      .filter((value) => !/^[=<>~]/.test(value.trim()) && !/\s(and|or|&&)\s/i.test(value));
    const cell = fc.oneof(text, fc.integer().map(String), fc.constantFrom('2026-11-16', '7.0', ''));
    fc.assert(
      fc.property(cell, cell, (value, other) => {
        const [is, differs] = ['=', '!='].map((operator) =>
          parseCondition(`a${operator}${value}`).isMetBy(other),
        );
        expect(differs).toBe(is === undefined ? undefined : !is);
        expect(holds(`a=${value}`, value.trim())).toBe(true);
      }),
    );
  });

  test('has cells before, at and behind the value, or without an order', () => {
    const ordered = fc.oneof(
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date(2 ** 42) })
        .map((date) => date.toISOString()),
    );
    const cell = fc.oneof(ordered, fc.string(), fc.constantFrom('2026-11-16', '7.0', '', '16/11/2026'));
    fc.assert(
      fc.property(ordered, cell, (value, given) => {
        const other = given.trim();
        const [before, at, behind] = ['<', '=', '>'].map((operator) => holds(`a${operator}${value}`, other));
        expect([before, at, behind].filter(Boolean).length).toBeLessThanOrEqual(1);
        expect(holds(`a<=${value}`, other)).toBe(before || at);
        expect(holds(`a>=${value}`, other)).toBe(behind || at);
        const isUnknown = parseCondition(`a<${value}`).isMetBy(other) === undefined;
        expect(isUnknown).toBe(!before && !at && !behind);
      }),
    );
  });

  test.each(['16/11/2026', '2026-02-30', 'yesterday', '80%', '79,5', ''])(
    'does not order cells by %j',
    (value) => {
      for (const operator of ['<', '<=', '>', '>='])
        expect(() => parseCondition(`at${operator}${value}`)).toThrow(
          /is no number and no time; write a number as 79\.5, a date as 2026-11-16 or a time as 2026-11-16T10:00:00Z$/,
        );
      if (value !== '') expect(holds(`at=${value}`, value)).toBe(true);
    },
  );

  const usage = 'write a column, a comparison and a value, as "deleted_by=u-17"';

  test.each([
    ['', usage],
    ['deleted_by', usage],
    ['=x', usage],
    [' >=5', usage],
    ['by==u-17', '== is no comparison; write one of = != < <= > >= ~'],
    ['by=>5', '=> is no comparison'],
    ['by<>u-17', '<> is no comparison'],
    ['a=x AND b>=y', 'write one condition for each --where; rows must match all of them'],
    ['a=x && b=y', 'write one condition for each --where'],
    // Every text has an empty part.
    ['note~', 'write the part of a text behind ~'],
  ])('is not %j', (text, message) => {
    expect(() => parseCondition(text)).toThrow(message);
  });
});
