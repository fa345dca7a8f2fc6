import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  orNone,
  parseCanary,
  parseConcurrency,
  parseDuration,
  parseFailureLimit,
  parseInteger,
  parseQueuePrefix,
  parseRate,
  parseSize,
  parseTimeOfDay,
} from '../../src/settings/parsers.ts';

describe('parseRate', () => {
  test.each([
    ['50/s', 50],
    ['600/m', 10],
    ['30/m', 0.5],
    ['0.5/s', 0.5],
    ['1000/h', 1_000 / 3_600],
    [' 5 / sec ', 5],
    ['1000000/s', 1_000_000],
  ])('reads %j as exactly that', (text, perSecond) => {
    const rate = parseRate(text);
    expect(rate).toEqual({ text: text.trim(), auto: false, perSecond: expect.closeTo(perSecond) });
  });

  test.each([
    ['auto', { text: 'auto', auto: true }],
    [' auto ', { text: 'auto', auto: true }],
    ['auto..50/s', { text: 'auto..50/s', auto: true, perSecond: 50 }],
    ['auto..600/m', { text: 'auto..600/m', auto: true, perSecond: 10 }],
    ['auto.. 5/s', { text: 'auto.. 5/s', auto: true, perSecond: 5 }],
  ])('reads %j as the limit of the API, with its bound', (text, expected) => {
    expect(parseRate(text)).toEqual(expected);
  });

  test.each(['none', ' none '])('reads %j as no limit at all', (text) => {
    expect(parseRate(text)).toBeNull();
  });

  test.each([
    '',
    '50',
    '0/s',
    '-1/s',
    '50/x',
    'fast',
    '1e3/s',
    '2000000/s',
    'auto..',
    'auto..none',
    'auto..auto',
    'auto..0/s',
    'auto50/s',
    'automatic',
    '50/s..auto',
  ])('refuses %j', (text) => {
    expect(() => parseRate(text)).toThrow(RangeError);
  });

  test('reads every whole number of calls per unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.constantFrom('s', 'm', 'h'), (count, unit) => {
        const seconds = { s: 1, m: 60, h: 3_600 }[unit];
        expect(parseRate(`${count}/${unit}`)?.perSecond).toBeCloseTo(count / seconds);
      }),
    );
  });
});

describe('parseConcurrency', () => {
  test.each([
    ['auto', 'auto'],
    [' auto ', 'auto'],
    ['0', 0],
    ['50', 50],
    ['1000', 1_000],
  ])('reads %j', (text, expected) => {
    expect(parseConcurrency(text)).toBe(expected);
  });

  test.each(['', 'automatic', '-1', '1.5', '1001', 'many'])('refuses %j', (text) => {
    expect(() => parseConcurrency(text)).toThrow('write auto, or a whole number from 0 to 1000');
  });
});

describe('parseDuration', () => {
  test.each([
    ['1ms', 1],
    ['1.5ms', 2],
    ['30', 30_000],
    ['24h', 86_400_000],
  ])('reads %s as %d ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each(['', 'soon', '0s', '0.1ms', '25h'])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow(RangeError);
  });
});

describe('orNone', () => {
  test('reads none as null, and any other text with the parser', () => {
    expect(orNone(parseDuration)(' none ')).toBeNull();
    expect(orNone(parseDuration)('2s')).toBe(2_000);
    expect(() => orNone(parseDuration)('soon')).toThrow(/^write a duration .*, or none$/);
  });
});

describe('parseFailureLimit', () => {
  test.each([
    ['0', 0],
    [' 100 ', 100],
    ['5%', { percent: 5 }],
    ['0.5 %', { percent: 0.5 }],
    ['100%', { percent: 100 }],
    ['none', 'none'],
  ])('reads %j', (text, expected) => {
    expect(parseFailureLimit(text)).toEqual(expected);
  });

  test.each(['', '-1', '1.5', '0%', '101%', '%', 'five', '1e3', 'none%'])('refuses %j', (text) => {
    expect(() => parseFailureLimit(text)).toThrow(
      'write a number of rows as 100, a share of them as 5%, or none',
    );
  });
});

describe('parseSize', () => {
  test.each([
    ['1', 1],
    ['500MB', 500_000_000],
    ['4 GB', 4_000_000_000],
    ['1.5kb', 1_500],
    ['2GiB', 2_147_483_648],
    ['1TiB', 1_099_511_627_776],
    ['none', Number.POSITIVE_INFINITY],
  ])('reads %j as %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each(['', '0', '0GB', '-1GB', '4G', '4 apples', '1e9', 'GB', 'None of it', '0.1B'])(
    'refuses %j',
    (text) => {
      expect(() => parseSize(text)).toThrow('write a size as 500MB, 4GB, 2GiB or none');
    },
  );
});

describe('parseQueuePrefix', () => {
  test('accepts a word', () => {
    expect(parseQueuePrefix('team-2')).toBe('team-2');
  });

  test.each(['', 'a:b', '{a}', 'a b', 'a'.repeat(65)])('refuses %j', (text) => {
    expect(() => parseQueuePrefix(text)).toThrow('write a prefix with letters, digits');
  });
});

describe('parseInteger', () => {
  test('accepts its bounds', () => {
    expect(parseInteger(1, 100)('1')).toBe(1);
    expect(parseInteger(1, 100)('100')).toBe(100);
  });

  test.each(['0', '101', '1.5', '1e1', '', 'x', '-1'])('refuses %j', (text) => {
    expect(() => parseInteger(1, 100)(text)).toThrow('from 1 to 100');
  });
});

describe('parseCanary', () => {
  test.each([
    ['10', { rows: 10 }],
    ['10,random', { rows: 10, random: true }],
    [' 10 , random ', { rows: 10, random: true }],
  ])('reads %j', (text, expected) => {
    expect(parseCanary(text)).toEqual(expected);
  });

  test.each(['0', '1000001', 'random', '10,first', '10 random', ''])('refuses %j', (text) => {
    expect(() => parseCanary(text)).toThrow(
      'write a number of rows from 1 to 1000000, such as 10 or 10,random',
    );
  });
});

describe('parseTimeOfDay', () => {
  test.each([
    ['6:00', { time: '06:00' }],
    ['23:59 Europe/London', { time: '23:59', timeZone: 'Europe/London' }],
    ['06:00  utc', { time: '06:00', timeZone: 'UTC' }],
  ])('reads %j', (text, expected) => {
    expect(parseTimeOfDay(text)).toEqual(expected);
  });

  test.each([
    ['24:00', "write a time of day as 06:00, or with its time zone as '06:00 Europe/London'"],
    ['06:00 London', 'write a time zone as Europe/London or UTC'],
  ])('refuses %j', (text, message) => {
    expect(() => parseTimeOfDay(text)).toThrow(message);
  });
});
