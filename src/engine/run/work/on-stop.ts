import { onAbort } from '../../../base/async/waiting.ts';
import type { StopReason } from '../feed/coordinator.ts';
import { budgetSpent } from '../record/run-outcome.ts';
import type { ControlWatch } from './control.ts';
import type { RunContext } from './execution-options.ts';

export interface Stops extends Pick<RunContext, 'interrupt'> {
  /** Aborted with the name of the limit. */
  readonly deadline: AbortSignal;
  readonly controls: ControlWatch;
}

/**
 * Calls back when the user, a budget or a command from elsewhere ends the work on a run.
 *
 * @returns a function that ends the calls
 */
export function onStop(
  { interrupt, deadline, controls }: Stops,
  stop: (reason: StopReason) => void,
): () => void {
  const listeners = [
    onAbort(interrupt, () => stop({ state: 'interrupted' })),
    onAbort(deadline, () => stop(budgetSpent(deadline.reason))),
    controls.on(['pause', 'cancel'], ({ command, ...attribution }) =>
      stop({ state: command === 'cancel' ? 'cancelled' : 'paused', ...attribution }),
    ),
  ];
  return () => {
    for (const forget of listeners) forget();
  };
}
