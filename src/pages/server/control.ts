import { withTimeout } from '../../base/async/waiting.ts';
import { withActor } from '../../domain/actor.ts';
import { runIds } from '../../domain/names.ts';
import { priorities } from '../../domain/terms.ts';
import type { Cluster } from '../../engine/cluster/cluster.ts';
import { actualEntryState, isActive } from '../../engine/cluster/entries.ts';
import type { RatePolicy } from '../../engine/cluster/rate-policy.ts';
import { actualState } from '../../engine/run/record/record.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { inCluster, inFolder, type Wanted } from '../../engine/run/session/control.ts';
import type { ControlName } from './page-data.ts';

/** Runs, and the rules for controlling them. */
export interface ControlRoom {
  readonly store: RunStore;
  readonly cluster: Cluster | undefined;
  /** Parses a value of `--rate`. @throws a RangeError that says how to write one */
  readonly parseRate: (text: string) => RatePolicy | null;
  readonly requireReason: boolean;
}

type ControlAnswer =
  | { readonly status: 202; readonly asked: ControlName }
  | { readonly status: 400 | 404 | 409 | 503; readonly message: string };

type Body = Readonly<Partial<Record<'confirm' | 'rate' | 'priority' | 'reason', unknown>>>;

const here = 'on the dashboard';
/** The longest reason, in characters. */
const mostGiven = 480;

/** The longest wait for Redis. Short, because a person waits for the answer. */
const patienceMs = 5_000;

/** Asks the process that works on a run. The page shows the effect. */
export async function controlRun(
  room: ControlRoom,
  id: string,
  control: ControlName,
  body: Body,
): Promise<ControlAnswer> {
  const run = await findRun(room, id);
  if (run === undefined) return { status: 404, message: `There is no run ${id}.` };
  if (run === 'away') return { status: 503, message: 'Redis does not respond, so the run was not asked.' };
  const refused = refusalOf(id, control, run.state);
  if (refused !== undefined) return { status: 409, message: refused };
  if (control === 'cancel' && body.confirm !== id)
    return { status: 400, message: `To cancel the run, confirm its id: {"confirm": "${id}"}.` };
  const reason = typeof body.reason === 'string' ? body.reason.trim() : '';
  if (room.requireReason && reason === '')
    return { status: 400, message: 'The settings require a reason: write why you do this.' };
  const wanted = wantedOf(control, body, reason, room.parseRate);
  if (typeof wanted === 'string') return { status: 400, message: wanted };
  const sent = await withTimeout(
    run.place.write(wanted).then(() => true),
    patienceMs,
  );
  if (sent) return { status: 202, asked: control };
  const message = `Redis does not respond. Run ${id} may still get the request when Redis is back.`;
  return { status: 503, message };
}

/** The state of a run, and the place for commands; undefined for an unknown run. */
async function findRun({ store, cluster }: ControlRoom, id: string) {
  if (!runIds.has(id)) return undefined;
  const record = await store.look(id);
  if (record !== undefined && record !== 'being planned')
    return { state: actualState(record), place: inFolder(store.folder(id)) };
  if (cluster === undefined) return undefined;
  const looked = await withTimeout(
    cluster.run(id).then((entry) => ({ entry })),
    patienceMs,
  );
  if (looked === undefined) return 'away';
  return looked.entry && { state: actualEntryState(looked.entry), place: inCluster(cluster, id) };
}

function refusalOf(id: string, control: ControlName, state: string): string | undefined {
  if (control === 'pause' && state !== 'running') return `Run ${id} is ${state}, not running.`;
  if (control === 'unpause' && state !== 'paused') return `Run ${id} is ${state}, not paused.`;
  if (isActive(state)) return undefined;
  const instead = control === 'cancel' && state !== 'completed' && state !== 'cancelled';
  return `Run ${id} is ${state}: no process works on it.${instead ? ` Type: cqbatch cancel ${id}` : ''}`;
}

/** The command for the run, or why it is refused. */
function wantedOf(
  control: ControlName,
  { rate, priority }: Body,
  reason: string,
  parseRate: ControlRoom['parseRate'],
): Wanted | string {
  const by = withActor(reason === '' ? here : `${reason.slice(0, mostGiven)} (${here})`);
  if (control === 'set-priority') {
    const wantedPriority = priorities.find((each) => each === priority);
    return wantedPriority === undefined
      ? 'Give the priority: {"priority": "high"}, "normal" or "low".'
      : { kind: 'priority', priority: wantedPriority, ...by };
  }
  if (control !== 'set-rate') return { kind: 'command', command: control, ...by };
  if (typeof rate !== 'string') return 'Give the rate: {"rate": "20/s"}.';
  try {
    return { kind: 'rate', rate: parseRate(rate), ...by };
  } catch (error) {
    return `Rate "${rate}": ${(error as Error).message}.`;
  }
}
