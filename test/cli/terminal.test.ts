import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { warningOfLasting } from '../../src/cli/terminal.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('an error of the datastore is a warning, once, when it has lasted five seconds', () => {
  const warn = vi.fn();
  const see = warningOfLasting({ warn });
  for (let seconds = 0; seconds < 10; seconds += 1) {
    see(new Error('READONLY'));
    expect(warn).toHaveBeenCalledTimes(seconds < 5 ? 0 : 1);
    vi.advanceTimersByTime(1_000);
  }
  expect(warn).toHaveBeenCalledWith('warning: a command of the datastore fails again and again (READONLY)');
});
