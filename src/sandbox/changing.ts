/** What another client does with `--changing`, between two pages and between two lists. */

import { randomFor } from './random.ts';
import type { Soundboard } from './soundboard.ts';
import type { Evaluation, State } from './state.ts';

const otherClient = 'other-client';

/** How many evaluations before a page are examined for one to change. */
const examinedEvaluations = 1000n;

/**
 * Restores the last evaluation before a page that can be restored, or deletes the last one that is not deleted. The following entries of a
 * list that is paged by position then move.
 *
 * @returns 1 if an entry of the list went, so that the page misses its first entry; -1 if one came, so that the page repeats the last entry
 *   of the page before; 0 if neither
 */
export function changeEvaluation(
  state: State,
  last: bigint,
  isListed: (evaluation: Evaluation) => boolean,
  now: number,
): -1 | 0 | 1 {
  const restores = randomFor('other client', state.settings.seed, last).chance(0.5);
  for (let id = last; id > 0n && id > last - examinedEvaluations; id--) {
    if (state.isDeleted(id) !== restores) continue;
    const before = state.evaluation(id);
    if (before === undefined || before.is_recoverable === false) continue;
    if (restores) state.restore(id, { userId: otherClient, at: now });
    else state.delete(id, otherClient, now);
    const after = state.evaluation(id);
    if (isListed(before)) return 1;
    return after !== undefined && isListed(after) ? -1 : 0;
  }
  return 0;
}

/** All soundboard entries. From the second list on, the other client has renamed every 50th since the list before. */
export function* soundboardsBetweenChanges(state: State, nth: number, now: number): Generator<Soundboard> {
  const { changing, soundboards } = state.settings;
  for (let id = 1n; id <= soundboards; id++) {
    const entry = state.soundboard(id);
    if (entry === undefined) continue;
    if (!changing || nth === 1 || id % 50n !== 0n) yield entry;
    else yield state.update(id, { ...entry, title: `Recording ${id}, edit ${nth - 1}` }, now) ?? entry;
  }
}
