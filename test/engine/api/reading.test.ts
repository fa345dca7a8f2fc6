import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import {
  decimal,
  flag,
  integer,
  listOf,
  object,
  type Read,
  text,
  time,
} from '../../../src/engine/api/reading.ts';

interface Reader {
  readonly name: string;
  readonly read: Read<unknown>;
  /** Values, and what they are read as. */
  readonly reads: readonly (readonly [value: unknown, as: unknown])[];
  /** Values that count as absent. */
  readonly refuses: readonly unknown[];
}

const readers: readonly Reader[] = [
  {
    name: 'integer',
    read: integer,
    reads: [
      [5, 5n],
      [-5, -5n],
      ['5', 5n],
      ['-9223372036854775808', -9223372036854775808n],
      [9223372036854775807n, 9223372036854775807n],
    ],
    refuses: ['', '5.0', '1e3', '9'.repeat(21), 1.5, 2 ** 53, new LosslessNumber('1e21'), true],
  },
  {
    name: 'decimal',
    read: decimal,
    reads: [
      [1.5, 1.5],
      ['-1e3', -1000],
      [9007199254740993n, 9007199254740992],
      [new LosslessNumber('0.12345678901234567'), 0.12345678901234566],
    ],
    refuses: ['', 'NaN', '0x10', [1]],
  },
  {
    name: 'text',
    read: text,
    reads: [
      ['', ''],
      [5, '5'],
      [9223372036854775807n, '9223372036854775807'],
      [new LosslessNumber('1e400'), '1e400'],
    ],
    refuses: [true, {}],
  },
  {
    name: 'time',
    read: time,
    reads: [
      ['yesterday', 'yesterday'],
      ['2024-05-01T00:00:00+00:00', '2024-05-01T00:00:00+00:00'],
      ['1970-01-02', '1970-01-02'],
      [1714564800, '1714564800'],
      [1n, '1'],
      [{ seconds: '1714564800', nanos: 0 }, '{"seconds":"1714564800","nanos":0}'],
      [true, 'true'],
    ],
    refuses: [
      ...['0001-01-01T00:00:00Z', '0001-01-01T00:00:00+00:00', '0001-01-01 00:00:00 +0000 UTC', '0001-01-01'],
      ...['0000-12-31T23:00:00Z', '0000-00-00 00:00:00', '1/1/0001 12:00:00 AM', '01.01.0001 00:00:00'],
      ...['1970-01-01T00:00:00Z', '1970-01-01T01:00:00.000+01:00', '1969-12-31T16:00:00-08:00', '1900-01-01'],
      ...['', ' ', '0', '0.0', '-62135596800', '-', 'null', 'None', 'N/A', 'never'],
      ...[0, 0n, -62135596800000, new LosslessNumber('0.0'), false, null, undefined],
      ...[{}, [], { seconds: 0, nanos: 0 }, { seconds: '-62135596800' }, { $date: { $numberLong: '0' } }],
    ],
  },
  {
    name: 'flag',
    read: flag,
    reads: [
      [true, true],
      ['true', true],
      ['false', false],
    ],
    refuses: [1, 'yes'],
  },
  {
    name: 'list',
    read: listOf(integer),
    reads: [
      [
        [1, '2', 3n, 'x', null, 1.5],
        [1n, 2n, 3n],
      ],
    ],
    refuses: ['1', { 0: 1 }],
  },
  {
    name: 'object',
    read: object({ someId: integer }),
    reads: [
      [{ some_id: 1, other: 2 }, { someId: 1n }],
      [{ someId: '2', some_id: null }, { someId: 2n }],
    ],
    refuses: [[], null, 'x'],
  },
];

describe.each(readers)('$name', ({ read, reads, refuses }) => {
  test.each(reads)('reads %o as %o', (value, expected) => {
    expect(read(value)).toEqual(expected);
  });

  test.each(refuses.map((value) => ({ value })))('takes $value for absent', ({ value }) => {
    expect(read(value)).toBeUndefined();
  });
});
