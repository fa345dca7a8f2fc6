import { createHash } from 'node:crypto';
import type { LimitedApi } from '../../domain/terms.ts';

/** A key for an API and its rate group, part of shared keys. Without a group, as in versions that know no groups. */
export function keyOfApi({ baseUrl, rateGroup }: LimitedApi): string {
  // No base URL contains a blank.
  const text = rateGroup === undefined ? baseUrl : `${baseUrl} ${rateGroup}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
