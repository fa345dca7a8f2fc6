import { operations } from '../../jobs/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Operation } from '../operation/operation.ts';
import type { ApprovedPlan } from '../run/plan/approved-plan.ts';
import { checkStateFolder } from '../run/record/state-folder.ts';
import { openRunStore, type RunStore } from '../run/record/store.ts';
import type { Settings } from '../settings/settings.ts';
import { type Flags, loadSettings, trustedStateDir } from './config/load.ts';
import { type CommandInput, chooseDatastore, type DatastoreChoice } from './datastore.ts';
import type { EndedRun } from './render/news.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What a command works with that looks into a state folder. */
export interface Workplace extends CommandInput {
  readonly store: RunStore;
  /** The signed-off plan that is to be carried out, in place of what flags and settings say. */
  readonly approved?: ApprovedPlan;
  /** Called when a manifest can't be run as it is. */
  readonly onRefused?: (refused: RefusedManifest) => void;
}

/** Why a manifest can't be run as it is. */
export interface RefusedManifest {
  /** For people. */
  readonly text: string;
  /** The path of a list of each row and what is wrong with it, if rows are. */
  readonly problems?: string;
}

/** What a command works with that may use the datastore, too. */
export interface Context extends Workplace {
  readonly datastore: DatastoreChoice;
  /** Called with a run that was taken to its end. */
  readonly onEnded?: (ended: EndedRun) => void;
  /** Counts what is done, if somebody wants to know. */
  readonly metrics?: Metrics;
}

/** @throws a usage error when a setting can't be understood. */
export async function openWorkplace(flags: Flags): Promise<Workplace> {
  const terminal = openTerminal(flags);
  return { terminal, flags, ...(await openState(terminal, flags)) };
}

/** @throws a usage error when a setting, or where the datastore is, can't be understood. */
export async function openContext(flags: Flags): Promise<Context> {
  const workplace = await openWorkplace(flags);
  return { ...workplace, datastore: await chooseDatastore(workplace) };
}

/** Opens the state folder that a command works in: its runs and its settings. Says what is not as it should be. */
export async function openState(
  terminal: Terminal,
  flags: Flags,
): Promise<Pick<Workplace, 'store' | 'settings'>> {
  const stateDir = await trustedStateDir(flags);
  for (const warning of await checkStateFolder(stateDir)) terminal.warn(`warning: ${warning}`);
  const settings = await loadSettings(flags);
  return { store: openRunStore(stateDir, await operationsWith(settings)), settings };
}

/**
 * The operations of the service, and those of the user's own.
 *
 * @throws a usage error `OPERATIONS_UNUSABLE`
 */
export async function operationsWith({ operations: module }: Settings): Promise<readonly Operation[]> {
  if (module === undefined) return operations;
  const { loadOperations } = await import('../operation/own-operations.ts');
  return [...operations, ...(await loadOperations(module, operations))];
}
