import { attemptsBefore, isUnknown, perhapsCalled } from '../../domain/attempts.ts';
import { type Attempt, noHistory, type RowResult } from '../../domain/terms.ts';
import type { BatchReturn, Leftover } from './payload.ts';

export interface Recollection {
  /** Undefined when no living worker had the batch, null when a worker had it and knows no more. */
  readonly testimony: BatchReturn | null | undefined;
  /** Whether all workers that could have had the batch have testified. */
  readonly isCertain: boolean;
}

export interface RecollectedBatch {
  readonly rows: readonly number[];
  readonly read: BatchReturn;
  readonly returned?: BatchReturn | undefined;
}

/**
 * The outcome of a batch from another epoch. The testimony of its last worker is certain, or else a value that was returned before the
 * datastore forgot something. Other rows without a result are possibly called, unless certainly no other worker has called them since.
 */
export function recollected(
  { rows, read, returned }: RecollectedBatch,
  { testimony, isCertain }: Recollection,
): BatchReturn {
  const last = testimony ?? (isCertain ? returned : undefined);
  const truth = last?.isFound ? undefined : last;
  const known = [testimony, returned, read].filter((source) => source != null).reduce(mergeReturns);
  const finished = new Set(known.results.map(({ row }) => row));
  const isKnown = isCertain && (testimony === undefined || testimony?.isFound === true);
  const certainLeftovers = byRow(truth);
  const knownLeftovers = byRow(known);
  const leftovers = rows
    .filter((row) => !finished.has(row))
    .map((row): Leftover => {
      const leftover = knownLeftovers.get(row) ?? { row, attemptsUsed: 0, delayMs: 0 };
      return certainLeftovers.get(row) ?? (isKnown ? leftover : perhapsRepeated(leftover));
    });
  return { ...known, leftovers };
}

/**
 * The results of both and, for each other row, the leftover with more calls. A result is unclear if the other source has a different
 * result, or counts as many calls beside it: two workers have called the row, because the first seemed dead.
 */
export function mergeReturns(one: BatchReturn, other: BatchReturn): BatchReturn {
  const marked = [...markRepeated(other.results, one), ...markRepeated(one.results, other)];
  const results = new Map(marked.map((result) => [result.row, result]));
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
    ...(one.isFound && other.isFound && { isFound: true as const }),
  };
}

function markRepeated(results: readonly RowResult[], other: BatchReturn): readonly RowResult[] {
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

/** The calls of a row beside that of its result. An intent without an end belongs to the result. */
function callsBeside(attempts: number, known: readonly Attempt[] = []): number {
  return known.some(isUnknown) ? attempts - 1 : attempts;
}

function byRow(source: BatchReturn | undefined): Map<number, Leftover> {
  return new Map(source?.leftovers.map((leftover) => [leftover.row, leftover]));
}

export function countedAttempts({ history }: Pick<Leftover, 'history'>): number {
  return history?.attempts ?? 0;
}

/** The number of calls is lost: most likely one call, which may be known already. */
function perhapsRepeated(leftover: Leftover): Leftover {
  const { history = noHistory } = leftover;
  return history.unclear ? leftover : { ...leftover, history: perhapsCalled(history) };
}
