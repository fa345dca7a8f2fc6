import type { Attribution } from '../actor.ts';
import type { CqbatchError } from '../errors.ts';
import { type FailureHalt, haltText } from './guards.ts';
import type { OpenRun } from './open-run.ts';
import type { StateCause } from './record.ts';
import { readRowNumbers } from './row-numbers.ts';

/** Why a run that was worked on here came to its end. */
export type RunEnd =
  | { readonly state: 'completed' }
  /** The user has stopped it, or what its budget allows is spent. */
  | { readonly state: 'interrupted'; readonly spent?: string }
  | { readonly state: 'cancelled'; readonly attribution: Attribution }
  /** More rows failed than the user allows. */
  | { readonly state: 'halted'; readonly because: 'threshold'; readonly halt: FailureHalt }
  /** The user, or what failed in it, did not let the run go on after its canary. */
  | { readonly state: 'halted'; readonly because: 'canary'; readonly reason: string }
  /**
   * No row can succeed: wrong token, wrong base URL, no permission, an API that is away. Or the worker of this process met
   * rows that it does not understand, or came to a standstill.
   */
  | { readonly state: 'halted'; readonly because: 'stuck'; readonly reason: CqbatchError };

/** What has stopped a run that neither a command nor its end has. */
export function interruptedBy({
  interrupt,
  deadline,
}: {
  readonly interrupt: AbortSignal;
  readonly deadline: AbortSignal;
}): RunEnd {
  return interrupt.aborted
    ? { state: 'interrupted' }
    : { state: 'interrupted', spent: String(deadline.reason) };
}

/** Who, or what, has ended a run, and why. */
export async function causeOf(
  end: RunEnd,
  { record, store }: Pick<OpenRun, 'record' | 'store'>,
): Promise<StateCause> {
  if (end.state === 'cancelled') return end.attribution;
  if (end.state === 'interrupted' && end.spent !== undefined)
    return { reason: `${end.spent}. Go on with: cqbatch resume ${record.id}`, spent: true };
  if (end.state !== 'halted') return {};
  if (end.because === 'stuck') return { reason: end.reason.message, stuck: true };
  if (end.because === 'canary') return { reason: end.reason };
  const numberOf = await readRowNumbers(store.folder(record.id), record);
  return { reason: haltText(end.halt, record.id, numberOf ?? ((row) => row)) };
}
