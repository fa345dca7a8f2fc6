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

/** The priorities, the highest first. */
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
  /** The base URL of the API, normalized. */
  readonly baseUrl: string;
  /** The rate group. Absent for callers without a group. */
  readonly rateGroup?: string | undefined;
}

/** `https://api.example.com (rate group acme)` */
export function apiText({ baseUrl, rateGroup }: LimitedApi): string {
  return rateGroup === undefined ? baseUrl : `${baseUrl} (rate group ${rateGroup})`;
}

export function actorText({ user, host }: Readonly<Record<'user' | 'host', string>>): string {
  return `${user} on ${host}`;
}

/** The outcomes, in the order of counts and displays. */
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

/** A share in percent, rounded; 100 only when everything is done. */
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

/** Whether a run ended as its user wished, because a guard halted it, or because it could not go on. */
export type StopManner = 'as wished' | 'halted' | 'gave up';

/** Whether the program stopped the run, so that a person should look before the run continues. */
export function wentWrong(manner: StopManner | undefined): boolean {
  return manner === 'halted' || manner === 'gave up';
}

export function outcomeText(outcome: string): string {
  return outcome.replace('_', ' ');
}

export function unclearText(outcome: string): string {
  return outcome === 'succeeded'
    ? 'an earlier attempt may have made the change, too'
    : 'the service may have made the change without a usable answer';
}

/** An answer as it is saved: without the token, and of limited size. */
export interface ReceivedAnswer {
  readonly status: number;
  /** The relevant headers, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly cut?: true;
}

/** An answer of a row, as `--save-responses` keeps it. */
export interface SavedAnswer extends ReceivedAnswer {
  readonly row: number;
  readonly at: string;
}
