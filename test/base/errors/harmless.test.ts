import { expect, test, vi } from 'vitest';
import { harmlessCallback, harmlessLog } from '../../../src/base/errors/harmless.ts';
import { silentLog } from '../../../src/base/log.ts';

const fail = () => {
  throw 'why';
};

test.each([
  ['throws', fail],
  ['rejects', async () => fail()],
])('a listener that %s ends nothing, and is reported once', async (_title, listen) => {
  const report = vi.fn();
  const heard = vi.fn(listen);
  const tell = harmlessCallback(heard, report);
  tell();
  tell();
  await expect.poll(() => report).toHaveBeenCalled();
  expect(report.mock.calls).toEqual([['why']]);
  expect(heard.mock.calls).toHaveLength(2);
});

test('a log that throws is a warning of the process, and a log that works is heard', async () => {
  const warning = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const info = vi.fn();
  const log = harmlessLog({ ...silentLog, info, error: fail, isLevelEnabled: () => true });
  log.info({ row: 1 }, 'row');
  log.error({}, 'row');
  expect(log.isLevelEnabled('debug')).toBe(true);
  expect(info.mock.calls).toEqual([[{ row: 1 }, 'row']]);
  expect(warning.mock.calls).toEqual([['The log fails: why', 'CqbatchWarning']]);
});
