import type { ApiFailure } from '../../api/failure.ts';

export type HealthEvidence =
  | { readonly kind: 'answered'; readonly isSuccess?: true }
  /** `none`: this program stopped the call, or this worker must end. */
  | { readonly kind: 'none' }
  | RefusedCall
  | Trouble;

/** The API asks to slow down: with 429 it is there, with 503 it may be away. */
export interface RefusedCall {
  readonly kind: 'refused';
  readonly path: string;
  readonly failure: ApiFailure;
}

/** A failure that other calls may share. */
export interface Trouble {
  readonly kind: 'trouble';
  /** The place of the row whose call failed. */
  readonly row: number;
  /**
   * - `target`: not the row, because connections are refused.
   * - `either`: the row or the API.
   * - `path`: the row, or a base URL that leads to something else, which is ruled out once anything was answered.
   * - `unread`: a 2xx without a usable answer, before any row of the operation has succeeded. The address may be wrong; or the service has
   *   made the change.
   * - `done`: a refusal that would mean "done", before any row of the operation has succeeded at this address. Only a success shows that it
   *   does not come from a router.
   */
  readonly cause: 'target' | 'either' | 'path' | 'unread' | 'done';
  readonly path: string;
  readonly failure: ApiFailure;
  /** Whether an attempt of the row had failed before: a row that always fails says nothing about the API. */
  readonly isRepeated: boolean;
}

/** What is to blame for a failed call. `halted`: this worker has given up, and another must call the row. */
export type Blame = 'row' | 'target' | 'halted';

export interface BreakerHalt extends Pick<RefusedCall, 'path' | 'failure'> {
  /** Absent when the API has refused (429, 503) every call. */
  readonly cause?: Trouble['cause'];
  readonly because: 'unproven' | 'outage' | 'refusals';
  readonly calls: number;
  readonly lastedMs: number;
  /** The row to look at first: it may have been processed without an answer that could be read, or its refusal would mean "done". */
  readonly rowToSee?: number | undefined;
}

/** Whether the evidence says more about the API than about its row. */
export function isDoubtful(evidence: HealthEvidence): boolean {
  return evidence.kind === 'trouble' && evidence.cause !== 'either';
}
