import { expect, test } from 'vitest';
import { usageError } from '../../../../src/base/errors/errors.ts';
import { silentLog } from '../../../../src/base/log.ts';
import { newsTo } from '../../../../src/cli/commands/daemon/daemon.ts';
import type { Notifier } from '../../../../src/cli/commands/run/run-scope.ts';

test('news that can not be composed end no daemon, and keep no later news back', async () => {
  const sent: unknown[] = [];
  const logged: object[] = [];
  const notifier: Notifier = {
    async started() {},
    async ended({ error }) {
      if (error?.message === 'first') throw new TypeError('no summary');
      sent.push(error?.message);
    },
  };
  const log = { ...silentLog, error: (facts: object) => void logged.push(facts) };
  const news = newsTo(notifier, log);
  news.failed(usageError('X', 'first'));
  await news.told();
  news.failed(usageError('X', 'second'));
  await news.told();
  expect({ sent, logged }).toEqual({ sent: ['second'], logged: [{ err: 'no summary' }] });
});
