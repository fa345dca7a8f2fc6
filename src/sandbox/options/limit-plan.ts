import { usageError } from '../../errors.ts';
import type { LimitChange, LimitPlan } from '../limits/limit-plan.ts';
import { parseDuration } from './duration.ts';
import { parseLimit } from './limit.ts';

/**
 * Reads a limit, and those that take its place: `token-bucket:rate=50 then 30s token-bucket:rate=10 then 1m none`.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseLimitPlan(option: string, text: string): LimitPlan {
  const [first = '', ...changes] = text.split(/\s+then(?:\s+|$)/);
  return {
    first: parseLimit(option, first),
    changes: changes.map((change) => parseChange(option, change)),
  };
}

function parseChange(option: string, text: string): LimitChange {
  // A unit may stand apart from its number, and no kind of limit has a name as short.
  const [, after, limit] = /^(\S.*?)\s+([a-z-]{3,}.*)$/s.exec(text.trim()) ?? [];
  if (after === undefined || limit === undefined) {
    throw usageError(
      'INVALID_OPTION',
      `${option}: write a duration and a limit after "then", such as then 30s token-bucket:rate=10`,
    );
  }
  return { after: parseDuration(`${option}: then`, after), limit: parseLimit(option, limit) };
}
