import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Only `describeUnless` skips tests: it says why, and fails where CI is set. */
const skipping = /\b(?:describe|test|it)\.(?:skip|skipIf|runIf|todo|only)\b/;
const allowed = [join('test', 'helpers', 'describe-with-program.ts')];

const names = (await readdir('test', { recursive: true })).map((name) => join('test', name));
const paths = names.filter((name) => /\.[jt]s$/.test(name) && !name.includes('fixtures'));
const files = await Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })));

test('no test is skipped silently', () => {
  expect(files.filter(({ text }) => skipping.test(text)).map(({ path }) => path)).toEqual(allowed);
});

/** `expect.poll` waits for events, with the limit of test/vitest.config.ts. */
const waiting = /\bvi\.wait(?:For|Until)\b|node:timers\/promises/;

test('no test sleeps, or gives an event less time than a hang', () => {
  const users = ['architecture', 'bench', 'chaos', 'recording'].map((folder) => join('test', folder, ''));
  const tests = files.filter(({ path }) => !users.some((folder) => path.startsWith(folder)));
  expect(tests.filter(({ text }) => waiting.test(text)).map(({ path }) => path)).toEqual([]);
});

test('no test gives a page code to evaluate again and again: pages refuse that, so only the first try succeeds', () => {
  const evaluating = /\.waitForFunction\(/;
  expect(files.filter(({ text }) => evaluating.test(text)).map(({ path }) => path)).toEqual([]);
});

test('no test that shares modules with others replaces one', () => {
  // test/vitest.config.ts gives modules of their own to unit tests that replace modules by this call.
  const otherwise = files.filter(({ text }) => /^(?!vi\.mock).*\bvi\.(?:mock|doMock)\(/m.test(text));
  expect(otherwise.map(({ path }) => path)).toEqual([]);
  const systemTests = /^test.(?:deployment|e2e|library|engine.(?:cluster|datastore|queue))\b/;
  const shared = files.filter(({ path, text }) => systemTests.test(path) && /^vi\.mock\(/m.test(text));
  expect(shared.map(({ path }) => path)).toEqual([]);
});

test('no object packs properties into the spread of a literal', () => {
  expect(files.filter(({ text }) => /\.\.\.\{ /.test(text)).map(({ path }) => path)).toEqual([]);
});
