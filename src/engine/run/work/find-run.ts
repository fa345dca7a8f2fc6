import { type Defer, withScope } from '../../../base/async/scope.ts';
import { CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { type Cluster, openCluster } from '../../cluster/cluster.ts';
import { actualEntryState, isActive, type RunEntry } from '../../cluster/entries.ts';
import type { Datastore } from '../../datastore/datastore.ts';
import { briefOfEntry, briefOfRecord } from '../facts/make-facts.ts';
import type { RunBrief } from '../facts/run-facts.ts';
import { actualState, goesOnByItself, isResumable, type RunRecord } from '../record/record.ts';
import { idsMeantBy } from '../record/run-id.ts';
import { ambiguousRun, type RunStore } from '../record/store.ts';
import { type ControlPlace, controlsInCluster, controlsInFolder } from './control.ts';

export interface ConfiguredDatastore {
  /** The address of the shared datastore. Undefined for the embedded datastore, which has no runs of other folders. */
  readonly queue: string | undefined;
  /**
   * @param purpose for a message when another process holds the datastore
   * @throws a fatal error with the reason and the remedy
   */
  open(purpose: string, defer: Defer): Promise<Datastore>;
}

/** A run of this state folder, or one only of the shared datastore, which is then open. */
export type FoundRun =
  | { readonly record: RunRecord }
  | { readonly entry: RunEntry; readonly cluster: Cluster };

export interface RunContact extends ControlPlace {
  readonly runId: string;
  /** The state when the run was found. */
  readonly foundState: string;
  /** Whether the run was submitted. */
  readonly submitted?: boolean | undefined;
  /** What the run is by now. Undefined if the datastore has forgotten the run. */
  loadBrief(): Promise<RunBrief | undefined>;
}

export function contactOf(store: RunStore, found: FoundRun): RunContact {
  if ('record' in found) {
    const { id: runId, submitted } = found.record;
    const loadBrief = async () => briefOfRecord(await store.load(runId));
    return {
      runId,
      foundState: actualState(found.record),
      submitted,
      ...controlsInFolder(store.folder(runId)),
      loadBrief,
    };
  }
  const { entry, cluster } = found;
  const { id: runId } = entry;
  const loadBrief = async () => {
    const now = await cluster.run(runId);
    return now && briefOfEntry(now);
  };
  return {
    runId,
    foundState: actualEntryState(entry),
    ...controlsInCluster(cluster, runId),
    loadBrief,
  };
}

/**
 * @param advice what to type instead, as a clause
 * @throws a usage error `RUN_STATE`
 */
export function requireState(
  { runId, foundState }: Pick<RunContact, 'runId' | 'foundState'>,
  wanted: 'running' | 'paused' | 'in progress',
  advice?: string,
): void {
  if (wanted === 'in progress' ? isActive(foundState) : foundState === wanted) return;
  const instead = advice === undefined ? '' : `: ${advice}`;
  throw usageError('RUN_STATE', `Run ${runId} is ${foundState}, not ${wanted}${instead}.`);
}

/** Selects the newest run for a command without a name. */
export interface FittingRun {
  /** Completes the message `No run …`: `is paused`. */
  readonly fittingClause: string;
  readonly acceptsRecord: (record: RunRecord) => boolean | Promise<boolean>;
  readonly acceptsState: (state: string) => boolean;
  /** What to type when no run is accepted, as a clause: `to cancel it: cqbatch cancel monday`. */
  readonly adviceForNewest?: ((newest: RunRecord) => string | undefined) | undefined;
}

function runInState(
  fittingClause: string,
  acceptsState: (state: string) => boolean,
  adviceForNewest?: FittingRun['adviceForNewest'],
): FittingRun {
  return {
    fittingClause,
    acceptsRecord: (record) => acceptsState(actualState(record)),
    acceptsState,
    adviceForNewest,
  };
}

/** Whether a process works on the run, or will by itself. */
export function isInProgress(state: string): boolean {
  return isActive(state) || state === 'submitted';
}

export const anyRun = runInState('exists', () => true);
export const runningRun = runInState('is running', (state) => state === 'running');
export const pausedRun = runInState('is paused', (state) => state === 'paused');
export const runInProgress = runInState('is in progress', isInProgress, (newest) =>
  isResumable(actualState(newest)) ? `to cancel it: cqbatch cancel ${newest.id}` : undefined,
);
export const unfinishedRun: FittingRun = {
  fittingClause: 'can be resumed',
  acceptsRecord: (record) => isResumable(actualState(record)) && !goesOnByItself(record),
  acceptsState: () => false,
  adviceForNewest: (newest) =>
    actualState(newest) === 'paused' ? `to continue it: cqbatch unpause ${newest.id}` : undefined,
};

/**
 * Finds a run in the state folder or in the shared datastore, which stays open during `use`. Without a name, the newest run that fits.
 *
 * @param name an id, or a unique part of it
 * @throws a usage error `RUN_UNKNOWN`, `RUN_AMBIGUOUS`, or `NO_RUN_FITS` without a name
 */
export async function withRun<Result>(
  { store, datastore }: { readonly store: RunStore; readonly datastore: ConfiguredDatastore },
  name: string | undefined,
  fitting: FittingRun,
  use: (found: FoundRun) => Promise<Result>,
): Promise<Result> {
  const here = await findRecord(store, name, fitting).catch((error: unknown) => {
    const isNotHere = error instanceof CqbatchError && ['RUN_UNKNOWN', 'NO_RUN_FITS'].includes(error.code);
    if (!isNotHere || datastore.queue === undefined) throw error;
    return error;
  });
  if (!(here instanceof CqbatchError)) return use({ record: here });
  return withCluster(datastore, async (cluster) => {
    const entries = newestFirst(await cluster.runs());
    const entry =
      name === undefined
        ? entries.find((each) => fitting.acceptsState(actualEntryState(each)))
        : entryNamed(name, entries);
    if (entry !== undefined) return use({ entry, cluster });
    if (here.code === 'NO_RUN_FITS') throw here;
    const places = `neither in ${store.stateDir} nor in ${datastore.queue}`;
    if (name !== undefined) throw usageError('RUN_UNKNOWN', `There is no run ${name}, ${places}.`);
    const what = entries.length === 0 ? 'No runs yet' : `No run ${fitting.fittingClause}`;
    throw usageError('RUN_UNKNOWN', `${what}, ${places}.`);
  });
}

/** Finds a run of the state folder like `withRun`, for commands that need the folder of the run. */
export async function findRecord(
  store: RunStore,
  name: string | undefined,
  { fittingClause, acceptsRecord, adviceForNewest }: FittingRun,
): Promise<RunRecord> {
  if (name !== undefined) return store.find(name);
  const runs = (await store.list()).toReversed();
  for (const record of runs) if (await acceptsRecord(record)) return record;
  const [newest] = runs;
  if (newest === undefined) {
    throw usageError(
      'RUN_UNKNOWN',
      `There is no run in ${store.stateDir} yet. Start one with "cqbatch run <manifest>".`,
    );
  }
  const title = `${newest.id} of ${escapeInvisible(newest.manifest.name)}`;
  const instead = `${runs.length === 1 ? title : `The newest, ${title},`} is ${actualState(newest)}`;
  const advice = adviceForNewest?.(newest);
  throw usageError(
    'NO_RUN_FITS',
    `No run in ${store.stateDir} ${fittingClause}. ${instead}${advice === undefined ? '. "cqbatch list" shows all.' : `; ${advice}`}`,
  );
}

function entryNamed(name: string, entries: readonly RunEntry[]): RunEntry | undefined {
  const ids = idsMeantBy(
    name,
    entries.map(({ id }) => id),
  );
  if (ids.length > 1) throw ambiguousRun(name, ids.toReversed());
  return entries.find(({ id }) => id === ids[0]);
}

function newestFirst(runs: readonly RunEntry[]): readonly RunEntry[] {
  return runs.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
}

async function withCluster<Result>(
  datastore: ConfiguredDatastore,
  look: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  return withScope(async (defer) => look(openCluster(await datastore.open('look', defer))));
}
