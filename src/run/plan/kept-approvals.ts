import { shellWord } from '../../text/shell-word.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { type ApprovalPolicy, needsApproval, requireApprovals } from './approvals.ts';
import { readKeptPlan } from './kept-plan.ts';

/**
 * Asks what these settings demand of a run that was submitted under others. Approvals must have counted when it was planned.
 *
 * @throws a usage error `APPROVAL_MISSING`, or `PLAN_CHANGED` when the run is not that of its plan
 */
export async function requireKeptApprovals(
  store: RunStore,
  record: RunRecord,
  policy: ApprovalPolicy,
): Promise<void> {
  const { manifest, plan: counts, states } = record;
  const { operations, callable } = counts;
  // Where a run has several operations, each of them may have all of its calls.
  if (!operations.some((name) => needsApproval(policy, { [name]: callable }))) return;
  const plan = await readKeptPlan(store, record);
  const [planned] = states;
  await requireApprovals(
    { ...policy, above: { '': 0 } },
    {
      manifest: manifest.name,
      planCommand: `cqbatch plan ${shellWord(manifest.name)}`,
      plan,
      callable: { '': callable },
      user: planned?.by?.user ?? '',
      at: Date.parse(planned?.at ?? ''),
    },
  );
}
