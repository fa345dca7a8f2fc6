import type { Endpoint } from './endpoint.ts';
import { restoreEvaluation } from './restore-evaluation.ts';
import { updateSoundboard } from './update-soundboard.ts';

/** Every operation of the service. */
export const endpoints: readonly Endpoint[] = [restoreEvaluation, updateSoundboard];
