import { usageError } from '../../errors.ts';
import { faultKinds } from '../faults/fault-kinds.ts';
import type { FaultShares } from '../faults/fault-plan.ts';
import { parseAssignments } from './assignments.ts';
import { parseShare, whole } from './share.ts';

/**
 * Reads `reset=1%,timeout=0.5%` or `none`.
 *
 * @throws CqbatchError `INVALID_OPTION` for unknown faults, bad shares, and shares of more than 100 % together.
 */
export function parseFaults(option: string, text: string): FaultShares {
  if (text.trim() === 'none') return new Map();
  const assigned = parseAssignments(option, text);
  for (const name of assigned.keys()) {
    if (!faultKinds.some((kind) => kind.name === name)) {
      const known = faultKinds.map((kind) => kind.name).join(', ');
      throw usageError('INVALID_OPTION', `${option}: there is no fault ${name}; known faults: ${known}`);
    }
  }
  const shares = faultKinds
    .map((kind) => [kind, parseShare(option, assigned.get(kind.name) ?? '0%')] as const)
    .filter(([, share]) => share > 0);
  if (shares.reduce((sum, [, share]) => sum + share, 0) > whole) {
    throw usageError('INVALID_OPTION', `${option}: the faults are more than 100% together`);
  }
  return new Map(shares);
}
