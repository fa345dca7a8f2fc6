import { noHistory, type RowResult } from '../../domain/terms.ts';
import type { RowVerdict } from '../queue/claimed-batch.ts';
import type { RowTask } from '../queue/payload.ts';

type FinishedRow = Extract<RowVerdict, { readonly kind: 'finished' }>;

/** A row that is not called again, because an attempt that must not be repeated may have been carried out. */
export function notRepeated(task: RowTask): FinishedRow {
  const { lastCode, lastMessage } = task.history ?? noHistory;
  const before = lastCode === undefined ? '' : ` (${lastCode}${lastMessage ? `: ${lastMessage}` : ''})`;
  const message = `an earlier attempt may have been carried out${before}, and ${task.operation} must not be repeated`;
  return ended(task, { code: 'NOT_REPEATED', message, unclear: true });
}

/** A row that fails without a further call. */
function ended(
  { row, operation, history = noHistory }: RowTask,
  why: Pick<RowResult, 'code' | 'message' | 'unclear'>,
): FinishedRow {
  const { attempts, unprocessed, startedAt, lastStatus, earlier } = history;
  return {
    kind: 'finished',
    result: {
      row,
      operation,
      outcome: 'failed',
      ...why,
      attempts,
      ...(unprocessed > 0 && { unprocessed }),
      ...(lastStatus !== undefined && { httpStatus: lastStatus }),
      ...(startedAt !== undefined && { startedAt }),
      finishedAt: new Date().toISOString(),
      ...(earlier !== undefined && { earlier }),
    },
  };
}

/** A row that was claimed and not called. */
export function uncalled(task: RowTask): RowVerdict {
  return { kind: 'returned', history: task.history ?? noHistory };
}
