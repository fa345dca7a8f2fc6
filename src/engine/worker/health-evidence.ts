import type { ApiFailure } from '../api/failure.ts';

export type HealthEvidence =
  | { readonly kind: 'answered' }
  /** We stopped the call, or this worker must end. */
  | { readonly kind: 'none' }
  | Refused
  | Trouble;

/** The API asks to slow down: with 429 it is there, with 503 it may be away. */
export interface Refused {
  readonly kind: 'refused';
  readonly path: string;
  readonly failure: ApiFailure;
}

/** A failure that other calls may share. */
export interface Trouble {
  readonly kind: 'trouble';
  /**
   * `target`: not the row, because connections are refused; `either`: the row or the API; `path`: the row, or a base URL that leads to
   * something else, which is ruled out once anything was answered.
   */
  readonly cause: 'target' | 'either' | 'path';
  readonly path: string;
  readonly failure: ApiFailure;
  /** An attempt of the row had failed before: a row that always fails says nothing about the API. */
  readonly repeated: boolean;
}

/**
 * `halted`: this worker has given up, and another must call the row. `unproven`: it has given up because the target never answered as the
 * service does.
 */
export type Blame = 'row' | 'target' | 'halted' | 'unproven';

export interface Halt extends Pick<Trouble, 'path' | 'failure'> {
  readonly because: 'unproven' | 'outage' | 'refusals';
  readonly calls: number;
  readonly lastedMs: number;
}
