// @ts-check

import { defaultClearToken } from '../../../dist/src/cli/config/load.js';
import { parseRate } from '../../../dist/src/cli/config/parsers.js';
import { defaults } from '../../../dist/src/cli/config/settings.js';

/**
 * The options of a run as `cqbatch run` makes them when little is said, but as fast as can be unless a rate is given.
 *
 * @param {{ readonly baseUrl: string, readonly rate?: string }} given
 * @returns {import('../../../dist/src/run/record.js').RunOptions}
 */
export function runOptions({ baseUrl, rate = 'none' }) {
  const policy = parseRate(rate);
  return {
    baseUrl,
    clearToken: defaultClearToken,
    concurrency: defaults.concurrency,
    attempts: defaults.attempts,
    timeoutMs: defaults.timeout,
    backoffMs: defaults.backoff,
    maxFailures: defaults.maxFailures,
    maxFailuresAfter: defaults.maxFailuresAfter,
    ...(policy !== null && { rate: policy }),
  };
}
