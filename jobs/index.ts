import { fieldsWithOption } from '../src/engine/operation/operation.ts';
import { restoreEvaluation } from './restore-evaluation.ts';
import { updateSoundboard } from './update-soundboard.ts';

/** The operations of the call-quality service, in the order in which help and plans list them. */
export const operations = [restoreEvaluation, updateSoundboard] as const;

/** Fields that have an option of the command: `--user-id ID` is short for `--default user_id=ID`. */
export const fieldOptions = fieldsWithOption(operations);
