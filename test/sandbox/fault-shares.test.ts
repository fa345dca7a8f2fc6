import { expect, test } from 'vitest';
import { drawFault, parseFaults } from '../../src/sandbox/faults.ts';

const shares = (text: string): Record<string, number> =>
  Object.fromEntries([...parseFaults('--fault', text)].map(([kind, share]) => [kind.name, share]));

test.each([
  ['none', {}],
  ['reset=0%', {}],
  ['malformed=0.5%, reset=1%', { reset: 10_000, malformed: 5_000 }],
  ['500=60%,503=40%', { 500: 600_000, 503: 400_000 }],
])('%s', (text, expected) => {
  expect(shares(text)).toEqual(expected);
});

test.each([
  ['', 'is not in the form name=value'],
  ['reset=1%,', 'is not in the form name=value'],
  ['explosion=1%', 'unknown fault explosion; known faults: reset, timeout,'],
  ['constructor=1%', 'unknown fault constructor'],
  ['reset=1', 'is not a share'],
  ['reset=1%,reset=2%', 'reset appears twice'],
  ['reset=60%,500=50%', 'add up to more than 100%'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseFaults('--fault', text)).toThrow(message);
});

test.each([
  [0.009, 'reset'],
  [0.011, 'timeout'],
  [0.059, 'timeout'],
  [0.061, 'malformed'],
  [0.261, undefined],
])('each fault has its share of the lots: %d is %s', (lot, fault) => {
  const many = parseFaults('--fault', 'reset=1%,timeout=5%,malformed=20%');
  expect(drawFault(many, lot)?.name).toBe(fault);
});
