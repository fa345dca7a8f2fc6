import { exitCodes } from './exit-codes.ts';
import { screen } from './output.ts';

/**
 * Whether a hangup stops this process: only if it has a terminal. A process that was started with nohup has none. That nohup ignores
 * SIGHUP can't be seen otherwise, because Node starts with the default action of each signal.
 */
const mayHangUp = screen.isAttached;

const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', ...(mayHangUp ? ['SIGHUP' as const] : [])];

/** Lets a process without a terminal outlive a hangup. */
export function outliveHangup(): void {
  if (!mayHangUp) process.on('SIGHUP', () => {});
}

/** Work that the user or a supervisor can stop. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** Stops the work without a signal. */
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
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(exitCodes.interrupted);
    isStopping = true;
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

/** An `onStop` that says at the terminal that the command is stopping. */
export function stopping(terminal: { warn(text: string): void }): () => void {
  return () =>
    terminal.warn(
      'Stopping: calls in flight may finish. Press Ctrl-C again to leave at once; nothing is lost.',
    );
}
