import type { Operation } from './operation.ts';
import { restoreEvaluation } from './restore-evaluation.ts';
import { updateSoundboard } from './update-soundboard.ts';

/** Every operation, in the order in which help and plans list them. */
export const operations: readonly Operation[] = [restoreEvaluation, updateSoundboard] as readonly Operation[];

const byName = new Map(operations.map((operation) => [operation.name, operation]));

/** The operation of that name, if there is one. */
export function findOperation(name: string): Operation | undefined {
  return byName.get(name);
}
