/**
 * The words of this project, as types.
 *
 * - An **operation** is one kind of API call (`restore-evaluation`, `update-soundboard`; see `jobs/`).
 * - A **manifest** is a file of **rows**, numbered from 1; a **run** is one execution of one manifest.
 * - A **rate group** names callers that share one limit of an API, normally a tenant with its own token. Callers without a group
 *   share one limit, too.
 * - An **attempt** is one HTTP request for a row. An attempt is **unclear** when it may have been processed although no usable
 *   answer came back.
 * - An **outcome** is the final state of a row, or that it is pending; a **result** is the outcome with everything known about it.
 * - The **history** of an unfinished row says what earlier attempts did, so that a later one can be judged.
 * - The **priority** of a run decides which rows workers call first.
 */

/** Highest first. */
export const priorities = ['high', 'normal', 'low'] as const;

export type Priority = (typeof priorities)[number];

export const usualPriority = 'normal' satisfies Priority;

/**
 * For rows with the same subject but different requests: `refuse` leaves the decision to the user, `last` calls only the last row,
 * `in-order` calls all one after the other.
 */
export const conflictRules = ['refuse', 'last', 'in-order'] as const;

export type ConflictRule = (typeof conflictRules)[number];

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof methods)[number];

/** Calls of an API and a rate group share one limit, hence one queue, one rate and the workers. */
export interface LimitedApi {
  /** Normalized. */
  readonly baseUrl: string;
  /** Absent for callers without a group. */
  readonly rateGroup?: string | undefined;
}

/** `https://api.example.com (rate group acme)` */
export function apiText({ baseUrl, rateGroup }: LimitedApi): string {
  return rateGroup === undefined ? baseUrl : `${baseUrl} (rate group ${rateGroup})`;
}

export function actorText({ user, host }: Readonly<Record<'user' | 'host', string>>): string {
  return `${user} on ${host}`;
}

/** In the order of counts and displays. */
export const outcomes = [
  'succeeded',
  'failed',
  'invalid',
  'duplicate',
  'skipped',
  'not_attempted',
  'pending',
] as const;

/**
 * The final state of a row, or `pending`.
 *
 * - `skipped`: not called, on purpose.
 * - `not_attempted`: the run ended, and the row was certainly not processed.
 * - `pending`: it will still be called, or the datastore holds what became of it. A complete run has no such row.
 */
export type Outcome = (typeof outcomes)[number];

export type OutcomeCounts = Readonly<Record<Outcome, number>>;

export function noOutcomes(): Record<Outcome, number> {
  return { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0, pending: 0 };
}

export function addedUp(first: OutcomeCounts, second: OutcomeCounts): OutcomeCounts {
  const sum = noOutcomes();
  for (const outcome of outcomes) sum[outcome] = first[outcome] + second[outcome];
  return sum;
}

export function totalOf(counts: Partial<OutcomeCounts>): number {
  return outcomes.reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0);
}

/** Rounded; 100 only when everything is done. */
export function percentOf(done: number, rows: number): number {
  return done < rows ? Math.min(99, Math.round((100 * done) / rows)) : Math.sign(rows) * 100;
}

/** `87 %`, `<1 %` */
export function shareText(rows: number, all: number): string {
  const percent = percentOf(rows, all);
  return rows > 0 && percent === 0 ? '<1 %' : `${percent} %`;
}

/**
 * What a check says of a row, after a look at its entry. `overtaken`: a later row has changed the entry, so the entry says nothing about this
 * one.
 */
export const checkVerdicts = ['as_wanted', 'not_as_wanted', 'gone', 'overtaken'] as const;

export type CheckVerdict = (typeof checkVerdicts)[number];

const checkTexts: Readonly<Record<CheckVerdict, string>> = {
  as_wanted: 'as wanted',
  not_as_wanted: 'not as wanted',
  gone: 'gone',
  overtaken: 'overtaken by a later row for the same entry',
};

export function checkText(check: CheckVerdict): string {
  return checkTexts[check];
}

export function outcomeText(outcome: string): string {
  return outcome.replace('_', ' ');
}

export function unclearText(outcome: string): string {
  return outcome === 'succeeded'
    ? 'an earlier attempt may have been processed, too'
    : 'an attempt may have been processed, though no usable answer came';
}

/** Text by report column (without the leading `_`), from the operation. */
export type ResultColumns = Readonly<Record<string, string>>;

/** An attempt that did not finish its row. Without a code, nothing is known: its process has died. */
export interface Attempt {
  /** Start, ISO 8601 UTC. */
  readonly at?: string;
  readonly durationMs?: number;
  readonly code?: string;
  /** One line for display, perhaps cut. */
  readonly message?: string;
  readonly httpStatus?: number;
  /** The answer's name for the request, if it has one. */
  readonly requestId?: string;
  /** HTTP requests made; absent: 1. */
  readonly requests?: number;
  /** Earlier attempts that are not kept. */
  readonly omitted?: number;
}

export function requestsOf(attempts: readonly Attempt[]): number {
  return attempts.reduce((sum, { requests = 1, omitted = 0 }) => sum + requests + omitted, 0);
}

/** The final result of a row: one line of the journal, one row of the report. */
export interface RowResult {
  /** Number in the manifest, from 1. */
  readonly row: number;
  /** Empty when the row names no known operation. */
  readonly operation: string;
  readonly outcome: Outcome;
  /** Stable, upper-case reason: `OK`, `ALREADY_APPLIED`, `NOT_FOUND`, `INVALID_ROW`, … */
  readonly code: string;
  /** One line for display; empty when the code says it all. */
  readonly message: string;
  readonly httpStatus?: number;
  /** The last answer's name for the request; in reports, the trace id of the row if it has none. */
  readonly requestId?: string;
  /** HTTP requests made for the row, including refused (429) and unclear ones. */
  readonly attempts: number;
  /** How many of `attempts` certainly were not processed, because the API asked to slow down; absent: 0. */
  readonly unprocessed?: number;
  /** Whether an attempt may have been processed though no usable answer arrived. */
  readonly unclear: boolean;
  /** Start of the first attempt, ISO 8601 UTC. */
  readonly startedAt?: string;
  /** End of the last attempt, ISO 8601 UTC. */
  readonly finishedAt?: string;
  /** Duration of the last attempt. */
  readonly durationMs?: number;
  /** The row that was called in place of this `duplicate`. */
  readonly duplicateOf?: number;
  readonly columns?: ResultColumns;
  /** The attempts before the last; of many, the first and the last of them. */
  readonly earlier?: readonly Attempt[];
}

/** An answer as it is saved: without the token, and of limited size. */
export interface ReceivedAnswer {
  readonly status: number;
  /** The relevant headers, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly cut?: true;
}

/** For `--save-responses`. */
export interface SavedAnswer extends ReceivedAnswer {
  readonly row: number;
  readonly at: string;
}

/** How often the API refused a row, or failed at it, while it accepted others. */
export interface SingledOut {
  readonly refusals: number;
  /** Rows accepted meanwhile. */
  readonly others: number;
}

export interface AttemptHistory {
  readonly attempts: number;
  /**
   * Of `attempts`, those that certainly were not processed and do not count: the API asked to slow down (429, 503 with a waiting time, 503
   * that depends on the rate), or refused the token.
   */
  readonly unprocessed: number;
  readonly unclear: boolean;
  /** Absent when the API has never refused the row, or has accepted a call of it since. */
  readonly singledOut?: SingledOut;
  /** Successive failures with the same text. Absent when the last attempt ended otherwise. */
  readonly failedAlone?: SingledOut;
  readonly startedAt?: string;
  /** Of the last failed attempt. */
  readonly lastCode?: string;
  readonly lastMessage?: string;
  readonly lastStatus?: number;
  /** Of many attempts, the first and the last. Absent when nothing is known. */
  readonly earlier?: readonly Attempt[];
}

export const noHistory: AttemptHistory = { attempts: 0, unprocessed: 0, unclear: false };
