import { expect, onTestFinished, test, vi } from 'vitest';
import { endAtSignals, interruptible } from '../../src/cli/interrupt.ts';

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

test('outside of interrupts, a signal ends the process', () => {
  const ends = vi.fn();
  const before = process.listeners('SIGTERM');
  endAtSignals(ends as unknown as () => never);
  onTestFinished(() => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      for (const listener of process.listeners(name))
        if (!before.includes(listener)) process.off(name, listener);
  });
  const { release } = interruptible(() => {});
  process.emit('SIGTERM', 'SIGTERM');
  expect(ends).not.toHaveBeenCalled();
  release();
  release();
  process.emit('SIGTERM', 'SIGTERM');
  expect(ends).toHaveBeenCalledOnce();
});
