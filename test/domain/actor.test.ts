import { hostname, userInfo } from 'node:os';
import { expect, test, vi } from 'vitest';
import { readVersion } from '../../src/base/package.ts';
import { attributionSchema, withActor } from '../../src/domain/actor.ts';
import { actorText } from '../../src/domain/terms.ts';

vi.mock('node:os', { spy: true });

test('what a process does is withActor to its user, host and version', () => {
  const by = { user: userInfo().username, host: hostname(), version: readVersion() };
  expect(withActor()).toEqual({ by });
  expect(actorText(by)).toBe(`${by.user} on ${by.host}`);
  expect(withActor('a wrong column')).toEqual({ by, reason: 'a wrong column' });
});

test('what other processes report about themselves is bounded', () => {
  const { by, reason } = attributionSchema.parse({
    by: { user: 'u'.repeat(5_000), host: 'h'.repeat(5_000) },
    reason: 'r'.repeat(5_000),
  });
  expect([by?.user.length, by?.host.length, reason?.length]).toEqual([100, 100, 500]);
});

test('a user without an account, as in containers, is named by the user id', async () => {
  vi.resetModules();
  vi.mocked((await import('node:os')).userInfo).mockImplementationOnce(() => {
    throw new Error('uv_os_get_passwd returned ENOENT');
  });
  const { thisActor } = await import('../../src/domain/actor.ts');
  expect(thisActor().user).toBe(`uid ${process.getuid?.()}`);
});
