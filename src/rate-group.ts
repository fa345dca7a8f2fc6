import { createHash } from 'node:crypto';
import type { LimitedApi } from './domain.ts';

export const howToNameRateGroups = 'write 1 to 64 letters, digits, "-", "_" or ".", the first of them no "."';

/** Whether a name is valid for a rate group. It is valid as the name of a file, too. */
export function isRateGroup(name: string): boolean {
  return /^[\w-][\w.-]{0,63}$/.test(name);
}

/** Distinguishes the shared keys of APIs and rate groups. Without a group it is the key of versions that know no groups. */
export function keyOfApi({ baseUrl, rateGroup }: LimitedApi): string {
  // No base URL contains a blank.
  const text = rateGroup === undefined ? baseUrl : `${baseUrl} ${rateGroup}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
