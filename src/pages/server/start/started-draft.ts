import { basename } from 'node:path';
import { BusyError } from '../../../base/errors/errors.ts';
import { contentRunId } from '../../../engine/run/record/run-id.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import type { Draft } from './draft.ts';
import type { DraftStore } from './draft-store.ts';

/**
 * Notes the run that a draft has become, if that is missing. A dashboard that was killed, or whose disk was full, may have submitted the plan
 * and not noted the run. If the rows were planned again then, the new plan would call them a second time.
 *
 * @throws a busy error `DRAFT_LOCKED` while another process submits the plan
 */
export async function settledIfStarted(
  draft: Draft,
  drafts: Pick<DraftStore, 'output' | 'settle'>,
  runs: Pick<RunStore, 'look'>,
): Promise<Draft> {
  const { run, planned: { plan_sha256: sha256 } = {} } = draft;
  if (run !== undefined || sha256 === undefined) return draft;
  const id = contentRunId(basename(drafts.output(draft).plan), sha256);
  const record = await runs.look(id);
  if (record === 'being planned')
    throw new BusyError('DRAFT_LOCKED', `Run ${id} of this draft is being started`, 'Wait, then try again.');
  // The id has a part of the digest only.
  return record?.planFile?.sha256 === sha256 ? drafts.settle(draft, id) : draft;
}

/** Notes what an earlier dashboard did not. What is wrong with a draft is said when a person opens it. */
export async function settleAllStarted(drafts: DraftStore, runs: Pick<RunStore, 'look'>): Promise<void> {
  for (const { id, run, planned } of await drafts.list()) {
    // A lock of a killed dashboard takes seconds to get.
    if (run !== undefined || planned?.plan_sha256 === undefined) continue;
    await drafts.alone(id, (draft) => settledIfStarted(draft, drafts, runs)).catch(() => {});
  }
}
