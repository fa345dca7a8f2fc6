import { escapeInvisible } from '../../../base/text/printable.ts';

/** The first thing that is wrong with the folder of a run. */
export class Finding extends Error {}

/** @param problem a sentence part */
export function wrong(file: string, problem: string): Finding {
  return new Finding(`${escapeInvisible(file)}: ${problem}.`);
}
