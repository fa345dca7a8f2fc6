import { expect, onTestFinished, test, vi } from 'vitest';
import { interruptible } from '../../src/cli/interrupt.ts';

test('only a second signal ends the process at once, whatever stopped the work', () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  onTestFinished(() => exit.mockRestore());
  const heard: string[] = [];
  const { signal, abort, release } = interruptible((name) => heard.push(name));
  onTestFinished(release);
  abort();
  expect(signal.aborted).toBe(true);
  process.emit('SIGTERM', 'SIGTERM');
  expect(heard).toEqual(['SIGTERM']);
  expect(exit).not.toHaveBeenCalled();
  process.emit('SIGTERM', 'SIGTERM');
  expect(exit).toHaveBeenCalledExactlyOnceWith(130);
});
