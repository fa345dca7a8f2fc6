import { expect, test } from 'vitest';
import { CqbatchError } from '../../src/base/errors/errors.ts';
import { readOptions } from '../../src/sandbox/notation.ts';
import { type SandboxOptions, sandboxOptions } from '../../src/sandbox/options.ts';

test.each<[SandboxOptions, string]>([
  [{ port: '65536' }, '--port: "65536" is not a whole number from 0 to 65535'],
  [{ evaluations: '9223372036854775808' }, '--evaluations: "9223372036854775808" is not a whole number'],
  [{ token: 'two words' }, '--token: tokens must be visible ASCII characters'],
  [{ retryAfter: 'body' }, '--retry-after: "body" is not one of header, details, none'],
  [{ token: 'one, two' }, 'separate several with commas: one,two'],
  [{ limitStatus: '500' }, '--limit-status: "500" is not one of 429, 503'],
])('%j is a usage error', (options, message) => {
  const read = () => readOptions(sandboxOptions, options);
  expect(read).toThrow(CqbatchError);
  const wanted = { kind: 'usage', code: 'INVALID_OPTION', message: expect.stringContaining(message) };
  expect(read).toThrow(expect.objectContaining(wanted));
});
