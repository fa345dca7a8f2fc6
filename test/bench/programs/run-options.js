// @ts-check

import { parseRate } from '../../../dist/src/settings/parsers.js';
import { defaults } from '../../../dist/src/settings/settings.js';

/**
 * The options of a run as `cqbatch run` makes them by default, but without a limit on the rate unless one is given.
 *
 * @param {{ readonly baseUrl: string, readonly rate?: string, readonly guarded?: boolean }} given `guarded`: true switches on
 *   everything that watches each row, false switches it off; default: as users have it.
 * @returns {import('../../../dist/src/engine/run/record/record.js').RunOptions}
 */
export function runOptions({ baseUrl, rate = 'none', guarded }) {
  const policy = parseRate(rate);
  return {
    baseUrl,
    onConflict: defaults.onConflict,
    concurrency: defaults.concurrency,
    attempts: defaults.attempts,
    timeoutMs: defaults.timeout,
    backoffMs: defaults.backoff,
    maxFailures: defaults.maxFailures,
    ...(guarded === false && { maxFailures: /** @type {const} */ ('none') }),
    ...(policy !== null && { rate: policy }),
  };
}
