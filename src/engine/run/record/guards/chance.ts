/**
 * How rare the number of failed rows is if each row fails with the allowed probability or a lower one: chance gives such a number, at any moment
 * of a run however long, at most once in this many runs.
 *
 * The number is the likelihood of the results, averaged over all probabilities above the allowed one, divided by their likelihood at the
 * allowed one: M = ∫ (p/a)^k ((1−p)/(1−a))^(n−k) dp/(1−a) for p from a to 1, with k of n rows failed and a allowed. With each row, M is on
 * average no larger than before (a nonnegative supermartingale that starts at 1) for every probability up to a. So the chance that M ever
 * reaches c is at most 1/c: J. Ville, Étude critique de la notion de collectif (1939). Its use as a test that may stop at any time: H. Robbins,
 * Statistical methods related to the law of the iterated logarithm, Ann. Math. Statist. 41 (1970).
 *
 * With N = n+1, the integral is P(X ≤ k) / ((N−k) P(X = k)) for a binomial X of N rows at a. The sum P(X > k) / P(X = k) is less than that of
 * a geometric series, which is subtracted from the rest: the result is a lower bound of M, and where M is 10,000 it is less than one below M.
 *
 * @param allowed from 0 to 1, both excluded
 * @returns 0 unless more rows failed than are allowed
 */
export function onceInRuns(failed: number, rows: number, allowed: number): number {
  if (failed <= allowed * rows) return 0;
  const succeeded = rows - failed;
  const accepted = 1 - allowed;
  const ratio = ((succeeded + 1) * allowed) / ((failed + 1) * accepted);
  if (ratio >= 1) return 0;
  const withoutTail =
    logFactorial(failed) +
    logFactorial(succeeded) -
    logFactorial(rows + 1) -
    failed * Math.log(allowed) -
    (succeeded + 1) * Math.log(accepted);
  return Math.max(0, Math.exp(withoutTail) - ratio / ((1 - ratio) * (succeeded + 1)));
}

/** Below this number, Stirling's series is less exact than 1e-9. */
const smallestForSeries = 16;

function logFactorial(number: number): number {
  if (number < smallestForSeries) {
    let factorial = 1;
    for (let factor = 2; factor <= number; factor += 1) factorial *= factor;
    return Math.log(factorial);
  }
  const series = 1 / (12 * number) - 1 / (360 * number ** 3);
  return number * Math.log(number) - number + Math.log(2 * Math.PI * number) / 2 + series;
}
