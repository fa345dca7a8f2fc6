import type { Datastore } from '../datastore/datastore.ts';
import { keyOf } from './cluster.ts';

/** Longer than any approval holds. */
const keptMs = 400 * 24 * 60 * 60_000;

/** KEYS: claim of a plan. ARGV: run, milliseconds. Replies with the run that has the plan. */
const script = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return ARGV[1] end
return redis.call('GET', KEYS[1]) or ARGV[1]`;

/** An approved plan belongs to the first run on a shared datastore: other state folders may have copies. */
export async function claimOnDatastore(
  { prefix = '', runScript }: Datastore,
  sha256: string,
  run: string,
): Promise<boolean> {
  // On the embedded datastore, only the state folder has runs.
  if (runScript === undefined) return true;
  return (await runScript(script, [keyOf(prefix, `plan:${sha256}`)], [run, keptMs])) === run;
}
