import type { Journal } from '../../journal/journal.ts';
import type { RunPolicy } from '../../queue/payload.ts';
import type { RunRecord } from './record.ts';

/** What a run allows the workers of its rows. */
export function runPolicy(record: RunRecord, journal: Pick<Journal, 'provenOperations'>): RunPolicy {
  const { attempts, backoffMs, saveResponses } = record.options;
  return {
    attempts,
    backoffMs,
    ...(saveResponses && { saveAnswers: true }),
    // Read for each batch: later batches know more proven operations.
    get proven() {
      return [...journal.provenOperations];
    },
  };
}
