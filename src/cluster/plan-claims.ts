import type { Datastore } from '../datastore/datastore.ts';
import { keyOf } from './cluster.ts';

/** KEYS: claim of a plan. ARGV: run, milliseconds. Replies with the run that has the plan. */
const script = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return ARGV[1] end
return redis.call('GET', KEYS[1]) or ARGV[1]`;

/**
 * Gives an approved plan to the first run that workers of a shared datastore see it with. Other state folders may have copies.
 *
 * @param run key of the run
 * @param forMs until its approvals have ended
 * @returns whether the run has it
 */
export async function claimSharedPlan(
  { prefix = '', runScript }: Datastore,
  sha256: string,
  run: string,
  forMs: number,
): Promise<boolean> {
  // On the embedded datastore, only the state folder has runs.
  if (runScript === undefined) return true;
  return (await runScript(script, [keyOf(prefix, `plan:${sha256}`)], [run, Math.ceil(forMs)])) === run;
}
