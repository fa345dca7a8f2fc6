import { withTimeout } from '../../base/async/waiting.ts';
import { fatalError, usageError } from '../../base/errors/errors.ts';
import { withActor } from '../../domain/actor.ts';
import { runIds } from '../../domain/names.ts';
import { priorities } from '../../domain/terms.ts';
import type { Cluster } from '../../engine/cluster/cluster.ts';
import type { RatePolicy } from '../../engine/cluster/rate-policy.ts';
import { isFinalState } from '../../engine/run/record/ending.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import type { NewControl } from '../../engine/run/work/control.ts';
import { contactOf, type FoundRun, requireState } from '../../engine/run/work/find-run.ts';
import type { ControlName } from './page-data.ts';

/** Runs, and the rules for controlling them. */
export interface ControlRoom {
  readonly store: RunStore;
  readonly cluster: Cluster | undefined;
  /** Parses a value of `--rate`. @throws a usage error that says how to write one */
  readonly parseRate: (text: string) => RatePolicy | null;
  readonly requireReason: boolean;
}

export type ControlBody = Readonly<Partial<Record<'confirm' | 'rate' | 'priority' | 'reason', unknown>>>;

const dashboardPlace = 'on the dashboard';
/** The longest reason, in characters. */
const longestReason = 480;

/** The longest wait for Redis. It is short, because a person waits for the answer. */
const patienceMs = 5_000;

/**
 * Asks the process that works on a run. The page shows the effect.
 *
 * @throws a usage error when the run is not asked, a fatal error when Redis does not respond
 */
export async function controlRun(
  room: ControlRoom,
  id: string,
  control: ControlName,
  body: ControlBody,
): Promise<void> {
  const asked = askRun(room, id, control, body).then(() => true);
  if (await withTimeout(asked, patienceMs)) return;
  const message = `Redis does not respond. Run ${id} may still get the request when Redis is back.`;
  throw fatalError('COMMAND_UNANSWERED', message);
}

async function askRun(room: ControlRoom, id: string, control: ControlName, body: ControlBody): Promise<void> {
  const contact = contactOf(room.store, await findRun(room, id));
  const { foundState } = contact;
  const canCancel = control === 'cancel' && !isFinalState(foundState);
  const advice = canCancel ? `"cqbatch cancel ${id}" cancels it` : undefined;
  requireState(contact, neededState[control] ?? 'in progress', advice);
  if (control === 'cancel' && body.confirm !== id)
    throw usageError('CONSENT_MISSING', `To cancel the run, confirm its id: {"confirm": "${id}"}.`);
  await contact.writeControl(wantedOf(room, control, body));
}

const neededState: Readonly<Partial<Record<ControlName, 'running' | 'paused'>>> = {
  pause: 'running',
  unpause: 'paused',
};

async function findRun({ store, cluster }: ControlRoom, id: string): Promise<FoundRun> {
  const record = await store.look(runIds.require(id));
  if (record !== undefined && record !== 'being planned') return { record };
  const entry = await cluster?.run(id);
  if (cluster && entry) return { cluster, entry };
  throw usageError('RUN_UNKNOWN', `There is no run ${id}.`);
}

/** The reason for what a reader does, which says where. @throws a usage error `REASON_MISSING` */
export function dashboardReason(reason: unknown, isRequired: boolean): string {
  const given = typeof reason === 'string' ? reason.trim() : '';
  if (isRequired && given === '')
    throw usageError('REASON_MISSING', 'The settings require a reason: write why you do this.');
  return given === '' ? dashboardPlace : `${given.slice(0, longestReason)} (${dashboardPlace})`;
}

function wantedOf(
  { requireReason, parseRate }: ControlRoom,
  control: ControlName,
  body: ControlBody,
): NewControl {
  const { rate, priority, reason } = body;
  const by = withActor(dashboardReason(reason, requireReason));
  if (control === 'set-priority') {
    const wanted = priorities.find((each) => each === priority);
    if (wanted !== undefined) return { kind: 'priority', priority: wanted, ...by };
    throw usageError('INVALID_SETTING', 'Give the priority: {"priority": "high"}, "normal" or "low".');
  }
  if (control !== 'set-rate') return { kind: 'command', command: control, ...by };
  if (typeof rate === 'string') return { kind: 'rate', rate: parseRate(rate), ...by };
  throw usageError('INVALID_SETTING', 'Give the rate: {"rate": "20/s"}.');
}
