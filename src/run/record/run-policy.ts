import { join } from 'node:path';
import { readSmallFile } from '../../disk/files.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RunPolicy } from '../../queue/payload.ts';
import { onDisk } from '../../system-error.ts';
import type { RunRecord } from './record.ts';

/** The signed-off plan in the folder of its run. */
export const approvedPlanFile = 'approved.cqplan';

/** What a run allows the workers of its rows. */
export async function runPolicy(
  folder: string,
  record: RunRecord,
  journal: Pick<Journal, 'provenOperations'>,
): Promise<RunPolicy> {
  const { attempts, backoffMs, saveResponses } = record.options;
  const approved = record.approval?.signers && {
    plan: await readApprovedText(folder),
    user: record.states[0]?.by?.user ?? '',
    run: record.key ?? record.id,
  };
  return {
    ...{ attempts, backoffMs },
    ...(saveResponses && { saveAnswers: true }),
    ...(approved && { approved }),
    // Batches of later rows tell more.
    get proven() {
      return [...journal.provenOperations];
    },
  };
}

function readApprovedText(folder: string): Promise<string> {
  const path = join(folder, approvedPlanFile);
  return onDisk(path, () => readSmallFile(path));
}
