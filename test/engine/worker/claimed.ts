import type { Claim } from '../../../src/engine/queue/claimed-batch.ts';
import type { RowCall } from '../../../src/engine/queue/payload.ts';

/** A row to be called. */
export const task: RowCall = {
  run: 'r',
  row: 7,
  operation: 'restore-evaluation',
  subject: '1',
  path: '/restore',
  body: '{}',
};

/** The claim of a row that was never tried. */
export function claimed(changes: Partial<Claim> = {}): Claim {
  return {
    attemptsUsed: 0,
    policy: { attempts: 5, backoffMs: 1_000 },
    intend: async () => true,
    isWanted: () => true,
    ...changes,
  };
}
