import { exitCodes } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Lets the user stop what goes on: the first signal aborts, the second ends the process at once, which loses nothing,
 * because a run goes on from its journal. Call `release` when there is nothing left to stop.
 */
export function interruptible(terminal: Terminal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    terminal.warn(
      'Stopping: calls in flight may finish. Press Ctrl-C again to leave at once; nothing is lost.',
    );
    controller.abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    release() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
