import type { HistoryEntry } from './schedule.ts';

/** An occasion without a run, in words: what happened, and why. */
export function withoutRunWords(entry: Exclude<HistoryEntry, { readonly result: 'began' }>): {
  readonly what: string;
  readonly why: string;
} {
  switch (entry.result) {
    case 'idle':
      return { what: 'idle', why: 'the inbox was empty' };
    case 'skipped':
      return {
        what: 'skipped',
        why: entry.because === 'paused' ? 'the schedule was paused' : `${entry.because} was in progress`,
      };
    case 'missed':
      return { what: 'missed', why: 'no daemon started it in time' };
    case 'failed':
      return { what: 'failed', why: entry.message };
  }
}
