import { exitCodes } from './exit-codes.ts';
import { screen } from './output.ts';

/** Without a terminal, nohup may have started the process. Node resets the action of signals, so an ignored SIGHUP can't be seen. */
const mayHangUp = screen.isAttached;

const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', ...(mayHangUp ? ['SIGHUP' as const] : [])];

export function outliveHangup(): void {
  if (!mayHangUp) process.on('SIGHUP', () => {});
}

/** How many interrupts are open. While one is, it decides what a signal does. */
let open = 0;

/**
 * Calls `end` at a signal while no interrupt is open. Such a signal ends the process at once, with the exit code of an interrupted
 * command: a script can't distinguish the phases of a command.
 */
export function endAtSignals(end: () => never): void {
  for (const signal of signals) process.on(signal, () => open === 0 && end());
}

export interface Interrupt {
  readonly signal: AbortSignal;
  abort(): void;
  release(): void;
}

/**
 * Lets signals interrupt work. The first signal aborts and calls `onStop`; the second ends the process at once. Nothing is lost, because a
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
  open++;
  let isOpen = true;
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    release() {
      if (isOpen) open--;
      isOpen = false;
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

export function sayStopping(terminal: { warn(text: string): void }): () => void {
  return () =>
    terminal.warn(
      'Stopping: calls in flight may finish. Press Ctrl-C again to leave at once; nothing is lost.',
    );
}
