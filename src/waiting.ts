import { setTimeout as pause } from 'node:timers/promises';

/** Resolves when the signal aborts, at once if it has. */
export function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
}

/** Resolves after that time; it alone keeps no process alive. */
export function after(milliseconds: number): Promise<void> {
  return pause(milliseconds, undefined, { ref: false });
}
