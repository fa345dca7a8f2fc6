import { attemptsBefore, isUnknown, perhapsCalled } from '../../domain/attempts.ts';
import { type Attempt, noHistory, type RowResult } from '../../domain/terms.ts';
import type { BatchReturn, Leftover } from './payload.ts';

/** What workers know of a batch from another epoch of the datastore. */
export interface Recollection {
  /** Undefined when no living worker had the batch; null when one had it and knows no more. */
  readonly told: BatchReturn | null | undefined;
  /** Whether all workers that could have had the batch have testified. */
  readonly isCertain: boolean;
}

/** What the sources of a batch from another epoch say. */
export interface RecollectedBatch {
  readonly rows: readonly number[];
  /** What its coordinator has read. */
  readonly read: BatchReturn;
  /** What its worker has returned; absent when the datastore has lost it, or no worker had it. */
  readonly returned?: BatchReturn | undefined;
}

/**
 * The outcome of a batch that was added in another epoch. What its last worker says is the truth, and what was returned before the
 * datastore forgot something. Other rows without a result are marked, unless it is certain that no worker has called them since.
 */
export function recollected(
  { rows, read, returned }: RecollectedBatch,
  { told, isCertain }: Recollection,
): BatchReturn {
  const truth = told ?? (isCertain && returned?.isFound !== true ? returned : undefined);
  const known = [truth, returned, read].filter((source) => source !== undefined).reduce(mergeReturns);
  const finished = new Set(known.results.map(({ row }) => row));
  const certain = byRow(truth);
  const others = byRow(known);
  const leftovers = rows
    .filter((row) => !finished.has(row))
    .map((row): Leftover => {
      const leftover = others.get(row) ?? { row, attemptsUsed: 0, delayMs: 0 };
      const isTold = certain.has(row) || (isCertain && told === undefined);
      return certain.get(row) ?? (isTold ? leftover : marked(leftover));
    });
  return { ...known, leftovers };
}

/**
 * The results of both, and of each other row what was called more often. A result is marked if the other source has another one, or
 * counts as many calls beside it: two workers have called its row, because the first seemed dead.
 */
export function mergeReturns(one: BatchReturn, other: BatchReturn): BatchReturn {
  const results = new Map(
    [...besides(other.results, one), ...besides(one.results, other)].map((result) => [result.row, result]),
  );
  const leftovers = byRow(one);
  for (const leftover of other.leftovers) {
    const known = leftovers.get(leftover.row);
    if (known === undefined || countedAttempts(leftover) > countedAttempts(known))
      leftovers.set(leftover.row, leftover);
  }
  return {
    results: [...results.values()],
    leftovers: [...leftovers.values()].filter(({ row }) => !results.has(row)),
    answers: [...(one.answers ?? []), ...(other.answers ?? [])],
  };
}

function besides(results: readonly RowResult[], other: BatchReturn): readonly RowResult[] {
  const leftovers = byRow(other);
  const ends = new Map(other.results.map((result) => [result.row, result]));
  return results.map((result) => {
    const end = ends.get(result.row);
    const isOther = end !== undefined && !isSameEnd(end, result);
    const { history = noHistory } = leftovers.get(result.row) ?? {};
    const calls = isOther
      ? callsBeside(end.attempts, end.earlier)
      : callsBeside(history.attempts, attemptsBefore(history));
    if (calls === 0 || (!isOther && calls < result.attempts)) return result;
    return { ...result, attempts: Math.max(result.attempts, calls + 1), unclear: true };
  });
}

function isSameEnd(one: RowResult, other: RowResult): boolean {
  return one.finishedAt === other.finishedAt && one.startedAt === other.startedAt;
}

/** The calls of a row that had another end than its result. An intent without an end is that of the result. */
function callsBeside(attempts: number, known: readonly Attempt[] = []): number {
  return known.some(isUnknown) ? attempts - 1 : attempts;
}

function byRow(source: BatchReturn | undefined): Map<number, Leftover> {
  return new Map(source?.leftovers.map((leftover) => [leftover.row, leftover]));
}

export function countedAttempts({ history }: Pick<Leftover, 'history'>): number {
  return history?.attempts ?? 0;
}

/** The number of calls is lost; most likely it was one, and it may be known already. */
function marked(leftover: Leftover): Leftover {
  const { history = noHistory } = leftover;
  return history.unclear ? leftover : { ...leftover, history: perhapsCalled(history) };
}
