import { createHash } from 'node:crypto';
import type { LimitedApi } from '../../domain/terms.ts';

/** The part of shared keys that names an API and a rate group. Without a group, the key is that of versions that know no groups. */
export function keyOfApi({ baseUrl, rateGroup }: LimitedApi): string {
  // No base URL contains a blank.
  const text = rateGroup === undefined ? baseUrl : `${baseUrl} ${rateGroup}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
