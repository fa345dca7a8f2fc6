import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMoment } from '../../../src/base/text/moment.ts';

describe('a moment', () => {
  const ten = '2026-11-16T10:00:00.000Z';
  test.each([
    ['2026-11-16t10:00:00z', ten],
    // PostgreSQL, MySQL, SQL Server, BigQuery, Java, spreadsheets.
    ['2026-11-16 10:00:00.123456+00', '2026-11-16T10:00:00.123Z'],
    ['2026-11-16 10:00:00 UTC', ten],
    ['2026-11-16T11:00:00+01:00[Europe/Berlin]', ten],
    ['2026-11-16T10:00:00,5Z', '2026-11-16T10:00:00.500Z'],
    ['2026-11-16T10:00+0530', '2026-11-16T04:30:00.000Z'],
  ])('%s is %s', (text, iso) => {
    const moment = readMoment(text);
    expect(moment === undefined ? undefined : new Date(Math.floor(moment)).toISOString()).toBe(iso);
  });

  test.each([
    ...['', '16/11/2026', '2026-13-01', '2026-02-30', '2025-02-29', '2026-00-10', '2026-11-00', '20261332'],
    ...['2026-11-16T24:00', '2026-11-16T10:60', '2026-11-16 10:00 PM', '2026-11/16', '2026', '2026-11'],
    ...['1795677946', '1795677946000', '2026-11-16x', '2026-11-16T', '10:00', '2026-11-16T10:00:00Z Z'],
  ])('is not %j', (text) => {
    expect(readMoment(text)).toBeUndefined();
  });

  test('is read from whatever Date writes, exactly', () => {
    const [min, max] = [new Date('0001-01-01'), new Date('9999-12-31T23:59:59.999Z')];
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true, min, max }), (date) => {
        expect(readMoment(date.toISOString())).toBe(date.getTime());
      }),
    );
  });
});
