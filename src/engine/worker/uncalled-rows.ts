import { failedUncalled, noHistory } from '../../domain/attempts.ts';
import type { RowVerdict } from '../queue/claimed-batch.ts';
import type { RowCall } from '../queue/payload.ts';

type ReturnedRow = Extract<RowVerdict, { readonly kind: 'returned' }>;
type FinishedRow = Extract<RowVerdict, { readonly kind: 'finished' }>;

/** The result of a row that must not be repeated: an attempt may have been carried out. */
export function refusalToRepeat(task: RowCall): FinishedRow {
  const { row, operation, history = noHistory } = task;
  const { lastCode, lastMessage } = history;
  const code = lastCode === 'RESULT_LOST' ? lastCode : 'NOT_REPEATED';
  const last = lastMessage ? `${lastCode}: ${lastMessage}` : lastCode;
  const before = lastCode === undefined || lastCode === code ? '' : ` (${last})`;
  const message = `an earlier attempt may have been carried out${before}, and ${operation} must not be repeated`;
  return {
    kind: 'finished',
    result: failedUncalled(history, { row, operation, code, message, unclear: true }),
  };
}

export function returnUncalled(task: RowCall): ReturnedRow {
  return { kind: 'returned', history: task.history ?? noHistory };
}
