import type { Operation } from '../src/operation/operation.ts';
import { restoreEvaluation } from './restore-evaluation.ts';
import { updateSoundboard } from './update-soundboard.ts';

/** The operations of the call-quality service, in the order in which help and plans list them. */
export const operations: readonly Operation[] = [restoreEvaluation, updateSoundboard];
