import { exitCodes } from './exit-codes.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What the user, or a supervisor, can stop. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** Stops it for a reason of its own. */
  abort(): void;
  /** To be called when there is nothing left to stop. */
  release(): void;
}

/**
 * Lets the user stop what goes on: the first signal aborts, and is told to `onStop`; the second ends the process at
 * once, which loses nothing, because a run goes on from its journal.
 */
export function interruptible(onStop: (signal: NodeJS.Signals) => void): Interrupt {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    onStop(signal);
    controller.abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    release() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

/** What a user at a terminal is told who stops a command. */
export function stopping(terminal: { warn(text: string): void }): () => void {
  return () =>
    terminal.warn(
      'Stopping: calls in flight may finish. Press Ctrl-C again to leave at once; nothing is lost.',
    );
}
