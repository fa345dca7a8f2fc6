import { expect, test } from 'vitest';
import { isAtLeast } from '../../../src/base/text/version.ts';

test.for<[version: string, least: string, expected: boolean]>([
  ['7.0.8', '7.0.8', true],
  ['7.0.7', '7.0.8', false],
  ['10.0', '7.0.8', true],
  ['6.0.16', '6.2', false],
  ['8.0.0-rc1', '8.0.0', true],
])('version %s against %s: %s', ([version, least, expected]) => {
  expect(isAtLeast(version, least)).toBe(expected);
});
