import { expect, test } from 'vitest';
import { usageError } from '../../../../src/base/errors/errors.ts';
import { silentLog } from '../../../../src/base/log.ts';
import { notificationsBy } from '../../../../src/cli/commands/daemon/daemon.ts';
import type { Notifier } from '../../../../src/cli/commands/run/run-scope.ts';

test('a notification that can not be composed ends no daemon, and keeps no later one back', async () => {
  const sent: unknown[] = [];
  const logged: object[] = [];
  const notifier: Notifier = {
    async commandStarted() {},
    async commandEnded({ error }) {
      if (error?.message === 'first') throw new TypeError('no summary');
      sent.push(error?.message);
    },
  };
  const log = { ...silentLog, error: (facts: object) => void logged.push(facts) };
  const notifications = notificationsBy(notifier, log);
  notifications.runFailed(usageError('MANIFEST_EMPTY', 'first'));
  await notifications.allSent();
  notifications.runFailed(usageError('MANIFEST_EMPTY', 'second'));
  await notifications.allSent();
  expect({ sent, logged }).toEqual({ sent: ['second'], logged: [{ err: 'no summary' }] });
});
