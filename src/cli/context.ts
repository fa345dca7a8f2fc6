import { operations } from '../../jobs/index.ts';
import { usageError } from '../errors.ts';
import {
  type ApprovedPlan,
  checkStateFolder,
  type Datastore,
  datastoreAddress,
  defaults,
  loadOperations,
  type Metrics,
  type Operation,
  openDatastore,
  openRunStore,
  type PreparedDatastore,
  prepareEmbedded,
  type RunStore,
  type Settings,
} from '../index.ts';
import type { AtEnd } from '../releases.ts';
import {
  environment,
  type Flags,
  loadSettings,
  readSecret,
  stateDirOf,
  trustedStateDir,
} from './config/load.ts';
import { logLevelIn } from './log.ts';
import type { EndedRun } from './render/ended-run.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What a command was told, and where its words go. */
export interface CommandInput {
  readonly terminal: Terminal;
  readonly flags: Flags;
  readonly settings: Settings;
}

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

/** The datastore that the settings name. */
export interface DatastoreChoice {
  /** The shared datastore without its password; undefined for the embedded one. */
  readonly queue: string | undefined;
  /** Begins with what opening it takes, while something else is done first. What is not opened then is left in the end. */
  prepare(atEnd: AtEnd): void;
  /**
   * Opens it, and says what is not as it should be.
   *
   * @throws a fatal error that says why it can't be used and what to do about it.
   */
  open(purpose: string): Promise<Datastore>;
}

/** What a command works with that may use the datastore, too. */
export interface Context extends Workplace {
  readonly datastore: DatastoreChoice;
  /** Called with a run that was taken to its end. */
  readonly onEnded?: (ended: EndedRun) => void;
  /** Counters, if metrics are wanted. */
  readonly metrics?: Metrics;
}

/**
 * Opens the state folder that a command works in: its runs and its settings. Says what is not as it should be.
 *
 * @throws a usage error when a setting can't be understood.
 */
export async function openWorkplace(flags: Flags): Promise<Workplace> {
  const terminal = openTerminal(flags);
  const stateDir = await trustedStateDir(flags);
  for (const warning of await checkStateFolder(stateDir)) terminal.warn(`warning: ${warning}`);
  const settings = await loadSettings(flags);
  return { terminal, flags, settings, store: openRunStore(stateDir, await operationsWith(settings)) };
}

/** @throws a usage error when a setting, or where the datastore is, can't be understood. */
export async function openContext(flags: Flags): Promise<Context> {
  // Before a run is made.
  logLevelIn(flags);
  const workplace = await openWorkplace(flags);
  return { ...workplace, datastore: await chooseDatastore(workplace) };
}

/** The operations of the service, and those of the user's own. @throws a usage error `OPERATIONS_UNUSABLE` */
export async function operationsWith({ operations: module }: Settings): Promise<readonly Operation[]> {
  if (module === undefined) return operations;
  return [...operations, ...(await loadOperations(module, operations))];
}

/** @throws a usage error when a flag holds a password, or the address can't be understood. */
export async function chooseDatastore({ terminal, flags, settings }: CommandInput): Promise<DatastoreChoice> {
  const { queue: url, queuePrefix: prefix = defaults.queuePrefix } = settings;
  refusePasswordInFlag(flags.queue);
  const queue = await datastoreAddress(url);
  const redis = url === undefined ? undefined : { url, prefix, ...(await queuePasswords(settings)) };
  let prepared: PreparedDatastore | undefined;
  return {
    queue,
    prepare(atEnd) {
      // With --wait, it is opened when no other process holds it.
      if (redis !== undefined || settings.wait !== undefined) return;
      prepared = prepareEmbedded();
      atEnd(async () => (await prepared)?.thread.terminate());
    },
    async open(purpose) {
      const wanted = { redis, stateDir: stateDirOf(flags), purpose, prepared };
      prepared = undefined;
      const { datastore, warnings } = await openDatastore(wanted);
      for (const warning of warnings) terminal.warn(`warning: ${warning}`);
      return datastore;
    },
  };
}

/** Other users of the machine can read command lines. */
function refusePasswordInFlag(url: string | undefined): void {
  if (url === undefined || !/^[^/]*:\/\/[^/@]*:[^/@]+@/.test(url)) return;
  throw usageError(
    'PASSWORD_IN_FLAG',
    'Other users of this machine can read a password in --queue: put the address into CQBATCH_QUEUE, or the password into ' +
      'CQBATCH_QUEUE_PASSWORD or a file (--queue-password-file).',
  );
}

async function queuePasswords({ queuePasswordFile }: Settings) {
  const password = await readSecret({
    file: queuePasswordFile,
    variable: 'CQBATCH_QUEUE_PASSWORD',
    what: 'the password file',
    code: 'PASSWORD_UNREADABLE',
  });
  return { password, sentinelPassword: environment['CQBATCH_SENTINEL_PASSWORD'] || undefined };
}
