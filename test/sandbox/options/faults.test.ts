import { expect, test } from 'vitest';
import { faultKinds } from '../../../src/sandbox/faults/fault-kinds.ts';
import { parseFaults } from '../../../src/sandbox/options/faults.ts';

const shares = (text: string): [string, number][] =>
  [...parseFaults('--fault', text)].map(([kind, share]) => [kind.name, share]);

test.each([
  ['none', []],
  ['reset=1%', [['reset', 10_000]]],
  ['reset=0%', []],
  [
    'malformed=0.5%, reset=1%',
    [
      ['reset', 10_000],
      ['malformed', 5_000],
    ],
  ],
  [
    '500=60%,503=40%',
    [
      ['500', 600_000],
      ['503', 400_000],
    ],
  ],
])('%s', (text, expected) => {
  expect(shares(text)).toEqual(expected);
});

test('every fault can be switched on, together with all others', () => {
  const text = faultKinds.map(({ name }) => `${name}=5%`).join(',');
  expect(shares(text)).toHaveLength(faultKinds.length);
});

test.each([
  ['', 'is not of the form name=value'],
  ['reset', 'is not of the form name=value'],
  ['reset=', 'is not of the form name=value'],
  ['reset=1%,', 'is not of the form name=value'],
  ['explosion=1%', 'there is no fault explosion; known faults: reset, timeout,'],
  ['constructor=1%', 'there is no fault constructor'],
  ['reset=1', 'is no share'],
  ['reset=1%,reset=2%', 'reset is given twice'],
  ['reset=60%,500=50%', 'more than 100% together'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseFaults('--fault', text)).toThrow(message);
});
