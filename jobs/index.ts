import { restoreEvaluation } from './restore-evaluation.ts';
import { updateSoundboard } from './update-soundboard.ts';

/** The operations of the call-quality service, in the order in which help and plans list them. */
export const operations = [restoreEvaluation, updateSoundboard] as const;
