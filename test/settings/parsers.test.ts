import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  orNone,
  parseCanary,
  parseConcurrency,
  parseDuration,
  parseEncoding,
  parseFailureLimit,
  parseInteger,
  parseQueuePrefix,
  parseRate,
  parseSize,
  parseTimeOfDay,
} from '../../src/settings/parsers.ts';

const parsers = {
  rate: parseRate,
  concurrency: parseConcurrency,
  duration: parseDuration,
  'duration or none': orNone(parseDuration),
  'failure limit': parseFailureLimit,
  size: parseSize,
  prefix: parseQueuePrefix,
  'number from 1 to 100': parseInteger(1, 100),
  canary: parseCanary,
  'time of day': parseTimeOfDay,
  encoding: parseEncoding,
};

test.each<[what: keyof typeof parsers, text: string, value: unknown]>([
  ['rate', '50/s', { text: '50/s', auto: false, perSecond: 50 }],
  ['rate', '30/m', { text: '30/m', auto: false, perSecond: 0.5 }],
  ['rate', '100/15s', { text: '100/15s', auto: false, perSecond: 100 / 15 }],
  ['rate', 'auto..50 / 10 s', { text: 'auto..50 / 10 s', auto: true, perSecond: 5 }],
  ['rate', '90000/24h', { text: '90000/24h', auto: false, perSecond: 90_000 / 86_400 }],
  ['rate', ' auto ', { text: 'auto', auto: true }],
  ['rate', 'auto..600/m', { text: 'auto..600/m', auto: true, perSecond: 10 }],
  ['concurrency', ' auto ', 'auto'],
  ['concurrency', '0', 0],
  ['concurrency', '1000', 1_000],
  ['duration', '1.5ms', 2],
  ['duration', '24h', 86_400_000],
  ['duration or none', ' none ', null],
  ['failure limit', ' 100 ', 100],
  ['failure limit', '0.5 %', { percent: 0.5 }],
  ['failure limit', 'none', 'none'],
  ['size', '1.5kb', 1_500],
  ['size', '4 GiB', 4_294_967_296],
  ['size', 'none', Number.POSITIVE_INFINITY],
  ['prefix', 'team-2', 'team-2'],
  ['number from 1 to 100', '100', 100],
  ['canary', '10', { rows: 10 }],
  ['canary', ' 10 , random ', { rows: 10, random: true }],
  ['canary', '10,pause', { rows: 10, pause: true }],
  ['canary', '10, pause, random', { rows: 10, random: true, pause: true }],
  ['time of day', '6:00', { time: '06:00' }],
  ['time of day', '23:59 Europe/London', { time: '23:59', timeZone: 'Europe/London' }],
  ['encoding', 'latin1', 'windows-1252'],
])('as a %s, %j is read', (what, text, value) => {
  expect(parsers[what](text)).toEqual(value);
});

test.each<[what: keyof typeof parsers, message: string, texts: readonly string[]]>([
  [
    'rate',
    'write a rate as',
    ['', '50', '0/s', '100/0s', '100/1.5s', '100/-15s', '-1/s', '50/x', '1e3/s', 'automatic'],
  ],
  ['rate', 'a rate is at most 1000000/s', ['1000001/s']],
  ['rate', 'write a rate as', ['auto..', 'auto..none', 'auto..auto', 'auto..0/s', 'auto50/s', '50/s..auto']],
  ['concurrency', 'write auto, or a whole number from 0 to 1000', ['', 'automatic', '-1', '1.5', '1001']],
  ['duration', 'write a duration', ['', 'soon']],
  ['duration', 'a duration is from 1ms to 24h', ['0s', '0.1ms', '25h']],
  ['duration or none', ', or none', ['soon']],
  [
    'failure limit',
    'a number of rows as 100, a share of them as 5%, or none',
    ['', '-1', '1.5', '0%', '101%'],
  ],
  ['size', 'write a size as 500MB, 4GB, 2GiB or none', ['', '0', '0GB', '-1GB', '4G', '1e9', 'GB', '0.1B']],
  ['prefix', 'write a prefix with letters, digits', ['', 'a:b', '{a}', 'a b', 'a'.repeat(65)]],
  ['number from 1 to 100', 'from 1 to 100', ['0', '101', '1.5', '1e1', '', 'x', '-1']],
  [
    'canary',
    'a number of rows from 1 to 1000000, such as 10, 10,random or 10,pause',
    ['', '0', '1000001', '10,', '10,paused'],
  ],
  ['time of day', "write a time of day as 06:00, or with its time zone as '06:00 Europe/London'", ['24:00']],
  ['time of day', 'write a time zone as Europe/London or UTC', ['06:00 London']],
  ['encoding', 'write an encoding as windows-1252, iso-8859-15', ['', 'utf-9', 'ebcdic']],
])('as a %s, others are refused: %s', (what, message, texts) => {
  for (const text of texts) {
    expect(() => parsers[what](text), text).toThrow(RangeError);
    expect(() => parsers[what](text), text).toThrow(message);
  }
});

test('every whole number of calls per unit is read as a rate', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.constantFrom('s', 'm', 'h'), (count, unit) => {
      const seconds = { s: 1, m: 60, h: 3_600 }[unit];
      expect(parseRate(`${count}/${unit}`)?.perSecond).toBeCloseTo(count / seconds);
    }),
  );
});
