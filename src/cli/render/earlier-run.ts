import { isActive } from '../../cluster/entries.ts';
import type { EarlierRun } from '../../run/plan/earlier-runs.ts';
import { counted } from '../../text/quantities.ts';
import { clockTime, outcomeTexts } from './words.ts';

/** That a manifest was run before, and how to leave out what was done then: one line. */
export function earlierText({ id, at, state, rows, counts, others }: EarlierRun, now = new Date()): string {
  const result = counts === undefined ? [] : outcomeTexts(counts);
  const facts = [clockTime(new Date(at), now), state, counted(rows, 'row'), ...result].join(', ');
  const more = others === 0 ? '' : `, and ${counted(others, 'time')} before that`;
  const next =
    isActive(state) || state === 'submitted'
      ? 'it is still going'
      : `to leave out what was done: --skip-done ${id}`;
  return `this manifest was run before, as ${id} (${facts})${more}; ${next}`;
}

export function earlierDocument({ id, at, state, rows, counts, others }: EarlierRun): object {
  return { run: id, at, state, rows, outcomes: counts ?? null, others, skip_done: ['--skip-done', id] };
}
