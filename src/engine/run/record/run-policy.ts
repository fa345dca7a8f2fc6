import type { Journal } from '../../journal/journal.ts';
import type { Operation } from '../../operation/operation.ts';
import type { RunPolicy } from '../../queue/payload.ts';
import { type RunRecord, runKey } from './record.ts';

export function runPolicy(
  record: RunRecord,
  journal: Pick<Journal, 'provenOperations'>,
  operations: readonly Operation[],
  succeededBefore: readonly string[] = [],
): RunPolicy {
  const { attempts, backoffMs, saveResponses } = record.options;
  const sendsKeys = operations.some(
    ({ name, key }) => key !== undefined && record.plan.operations.includes(name),
  );
  return {
    attempts,
    backoffMs,
    ...(succeededBefore.length > 0 && { succeededBefore }),
    ...(saveResponses && { saveAnswers: true }),
    key: runKey(record),
    ...(sendsKeys && { sendsKeys }),
    // Proven operations are read for each batch: later batches know more of them.
    get proven() {
      return [...journal.provenOperations];
    },
  };
}
