import { expect, test } from 'vitest';
import { readSwitchChanges } from '../../../src/sandbox/options/switches.ts';

test('changes of switches are taken as they are', () => {
  const changes = { errorStyle: 'google', forbidden: true };
  expect(readSwitchChanges(changes)).toEqual(changes);
});

test.each([
  [null, 'must be a JSON object'],
  [[], 'must be a JSON object'],
  ['fault', 'must be a JSON object'],
  [{ evaluations: 5 }, 'there is no switch "evaluations"; known switches: errorStyle, integers,'],
  [{ 'error-style': 'rpc' }, 'there is no switch "error-style"'],
  [{ forbidden: 'yes' }, 'forbidden must be a boolean'],
  [{ latency: 50 }, 'latency must be a string'],
])('%j is refused: %s', (json, message) => {
  expect(() => readSwitchChanges(json)).toThrow(message);
});
