import { attributed } from '../actor.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { actualEntryState, isActive } from '../cluster/entries.ts';
import type { RatePolicy } from '../cluster/rate-policy.ts';
import { actualState } from '../run/record/record.ts';
import { isRunId } from '../run/record/run-id.ts';
import type { RunStore } from '../run/record/store.ts';
import { inCluster, inFolder, type Wanted } from '../run/session/control.ts';
import { orAfter } from '../waiting.ts';
import type { ControlName } from './page-data.ts';

/** Where runs are that may be told something. */
export interface ControlRoom {
  readonly store: RunStore;
  readonly cluster: Cluster | undefined;
  /** Reads a rate as `--rate` takes it. @throws a RangeError that says how to write one */
  readonly parseRate: (text: string) => RatePolicy | null;
}

/** What came of it: the run was asked, or it was refused, and why. */
export type ControlAnswer =
  | { readonly status: 202; readonly asked: ControlName }
  | { readonly status: 400 | 404 | 409 | 503; readonly message: string };

/** Redis is not waited for any longer: people look at the page. */
const patienceMs = 5_000;

/** Asks the process that works on a run to do something. The page shows what comes of it. */
export async function controlRun(
  { store, cluster, parseRate }: ControlRoom,
  id: string,
  control: ControlName,
  body: { readonly confirm?: unknown; readonly rate?: unknown },
): Promise<ControlAnswer> {
  const state = await stateOf(store, cluster, id);
  if (state === undefined) return { status: 404, message: `There is no run ${id}.` };
  if (state === 'away') return { status: 503, message: 'Redis does not answer: the run can not be asked.' };
  const refused = refusalOf(id, control, state.state);
  if (refused !== undefined) return { status: 409, message: refused };
  if (control === 'cancel' && body.confirm !== id)
    return { status: 400, message: `To cancel the run, confirm its id: ${id}.` };
  const wanted = wantedOf(control, body.rate, parseRate);
  if (typeof wanted === 'string') return { status: 400, message: wanted };
  const place = state.isHere || cluster === undefined ? inFolder(store.folder(id)) : inCluster(cluster, id);
  const sent = await orAfter(
    place.tell(wanted).then(() => true),
    patienceMs,
  );
  return sent
    ? { status: 202, asked: control }
    : { status: 503, message: `Redis does not answer: run ${id} may still be asked to when it is back.` };
}

async function stateOf(
  store: RunStore,
  cluster: Cluster | undefined,
  id: string,
): Promise<{ readonly state: string; readonly isHere: boolean } | 'away' | undefined> {
  if (!isRunId(id)) return undefined;
  const record = await store.look(id);
  if (record !== undefined && record !== 'being planned') return { state: actualState(record), isHere: true };
  if (cluster === undefined) return undefined;
  const looked = await orAfter(
    cluster.run(id).then((entry) => ({ entry })),
    patienceMs,
  );
  if (looked === undefined) return 'away';
  return looked.entry && { state: actualEntryState(looked.entry), isHere: false };
}

function refusalOf(id: string, control: ControlName, state: string): string | undefined {
  if (control === 'pause' && state !== 'running') return `Run ${id} is ${state}, not running.`;
  if (control === 'unpause' && state !== 'paused') return `Run ${id} is ${state}, not paused.`;
  if (isActive(state)) return undefined;
  const instead = control === 'cancel' && state !== 'completed' && state !== 'cancelled';
  return `Run ${id} is ${state}, not going.${instead ? ` Type: cqbatch cancel ${id}` : ''}`;
}

/** What the run is to be told, or why it can't be told that. */
function wantedOf(control: ControlName, rate: unknown, parseRate: ControlRoom['parseRate']): Wanted | string {
  const by = attributed('on the dashboard');
  if (control !== 'set-rate') return { kind: 'command', command: control, ...by };
  if (typeof rate !== 'string') return 'Say the rate: {"rate": "20/s"}.';
  try {
    return { kind: 'rate', rate: parseRate(rate), ...by };
  } catch (error) {
    return `Rate "${rate}": ${(error as Error).message}.`;
  }
}
