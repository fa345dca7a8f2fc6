import { exitCodes } from './exit-codes.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Work that the user or a supervisor can stop. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** Stops the work for another reason. */
  abort(): void;
  /** Call when nothing is left to stop. */
  release(): void;
}

/**
 * Lets signals stop work: the first aborts and calls `onStop`; the second ends the process at once. Nothing is lost, because a
 * run continues from its journal.
 */
export function interruptible(onStop: (signal: NodeJS.Signals) => void): Interrupt {
  const controller = new AbortController();
  let isTold = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isTold) process.exit(exitCodes.interrupted);
    isTold = true;
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

/** Tells a user at a terminal that the command is stopping. */
export function stopping(terminal: { warn(text: string): void }): () => void {
  return () =>
    terminal.warn(
      'Stopping: calls in flight may finish. Press Ctrl-C again to leave at once; nothing is lost.',
    );
}
