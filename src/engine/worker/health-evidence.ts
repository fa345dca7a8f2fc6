import type { ApiFailure } from '../api/failure.ts';

/** What a call shows about the API as a whole. */
export type HealthEvidence =
  /** The API is there and understands requests. */
  | { readonly kind: 'answered' }
  /** Says nothing about the API: we stopped the call, or it shows that this worker must end. */
  | { readonly kind: 'none' }
  | Refused
  | Trouble;

/** The API asks to slow down: with 429 the API is there, with 503 it may be away. */
export interface Refused {
  readonly kind: 'refused';
  /** Path of the request. */
  readonly path: string;
  readonly failure: ApiFailure;
}

/** A failure that other calls may share. */
export interface Trouble {
  readonly kind: 'trouble';
  /**
   * The possible cause. `target`: certainly not the row, because connections are refused; `either`: the row or the API; `path`:
   * the row, or a base URL that leads to something else, which is ruled out once anything was answered.
   */
  readonly cause: 'target' | 'either' | 'path';
  /** Path of the request. */
  readonly path: string;
  readonly failure: ApiFailure;
  /** Whether an attempt of the row had failed before: a row that always fails says nothing about the API. */
  readonly repeated: boolean;
}

/**
 * What made a call fail. `halted`: this worker has given up, and another worker must call the row. `unproven`: this worker has given up
 * because the target has never answered as the service does.
 */
export type Blame = 'row' | 'target' | 'halted' | 'unproven';

/** Why no more calls are made: no call was ever answered, or none was answered or accepted for longer than the user allows. */
export interface Halt extends Pick<Trouble, 'path' | 'failure'> {
  readonly because: 'unproven' | 'outage' | 'refusals';
  /** Consecutive failed or refused calls. */
  readonly calls: number;
  readonly lastedMs: number;
}
