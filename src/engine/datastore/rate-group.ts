import { createHash } from 'node:crypto';
import type { LimitedApi } from '../../domain/terms.ts';

/** A short text for an API and its rate group, part of shared keys. Without a group, versions that know no groups have the same text. */
export function keyOfApi({ baseUrl, rateGroup }: LimitedApi): string {
  // No base URL contains a blank.
  const text = rateGroup === undefined ? baseUrl : `${baseUrl} ${rateGroup}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
