import { setFlagsFromString } from 'node:v8';
import { operations } from '../../jobs/index.ts';
import type { Defer } from '../base/async/scope.ts';
import { type CqbatchError, usageError } from '../base/errors/errors.ts';
import type { Metrics } from '../daemon/metrics/metrics.ts';
import type { Datastore } from '../engine/datastore/datastore.ts';
import {
  datastoreAddress,
  openDatastore,
  type PreparedDatastore,
  prepareEmbedded,
} from '../engine/datastore/open.ts';
import type { Operation } from '../engine/operation/operation.ts';
import { loadOperations } from '../engine/operation/own-operations.ts';
import type { ApprovedPlan, ReadPlan } from '../engine/run/plan/plan-file.ts';
import type { RunRecord } from '../engine/run/record/record.ts';
import { checkStateFolder } from '../engine/run/record/state-folder.ts';
import { openRunStore, type RunStore } from '../engine/run/record/store.ts';
import { defaults, type Settings } from '../settings/settings.ts';
import { environment, type Flags, loadSettings, readSecret, stateDirOf, trustedStateDir } from './config.ts';
import type { EndedRun } from './render/ended-run.ts';
import { logLevelIn, openTerminal, type Terminal } from './terminal.ts';

/** The input of a command, and its terminal. */
export interface CommandInput {
  readonly terminal: Terminal;
  readonly flags: Flags;
  readonly settings: Settings;
}

/** The resources of a command that uses a state folder. */
export interface CommandContext extends CommandInput {
  readonly store: RunStore;
  /** The signed-off plan to carry out, instead of flags and settings. */
  readonly approved?: ReadPlan;
  /** Where the plan of a manifest belongs that no command line names, and what is there if it is not approved. */
  readonly besides?: { readonly file: string; readonly plan?: ApprovedPlan; readonly trouble?: CqbatchError };
  /** Called when a manifest can't be run as it is. */
  readonly onRefused?: (refused: RefusedManifest) => void;
}

/** Why a manifest can't be run as it is. */
export interface RefusedManifest {
  /** For display. */
  readonly text: string;
  /** Path of the list of problems, if rows are invalid. */
  readonly problems?: string | undefined;
}

/** The configured datastore. */
export interface DatastoreChoice {
  /** The shared datastore without its password; undefined for the embedded one. */
  readonly queue: string | undefined;
  /** Starts the slow part of opening while other work is done. Releases it at the end if it was not opened. */
  prepare(defer: Defer): void;
  /**
   * Opens the datastore until the end of the work, and prints warnings.
   *
   * @throws a fatal error with the reason and the remedy
   */
  open(purpose: string, defer: Defer): Promise<Datastore>;
}

/** The resources of a command that may also use the datastore. */
export interface Context extends CommandContext {
  readonly datastore: DatastoreChoice;
  /** Called when a run has started. @param stop interrupts it, as Ctrl-C does */
  readonly onStarted?: (record: RunRecord, stop: () => void) => void;
  /** Called when a run has ended. */
  readonly onEnded?: (ended: EndedRun) => void;
  /** Counters, if metrics are enabled. */
  readonly metrics?: Metrics | undefined;
}

/**
 * Opens the state folder of a command, with its runs and settings, and prints warnings.
 *
 * @throws a usage error for an invalid setting
 */
export async function openCommandContext(flags: Flags): Promise<CommandContext> {
  const terminal = openTerminal(flags);
  const stateDir = await trustedStateDir(flags);
  for (const warning of await checkStateFolder(stateDir)) terminal.warn(`warning: ${warning}`);
  const settings = await loadSettings(flags);
  return { terminal, flags, settings, store: openRunStore(stateDir, await operationsWith(settings)) };
}

/** @throws a usage error for an invalid setting or datastore address */
export async function openContext(flags: Flags): Promise<Context> {
  // By default, V8 waits until old objects have grown to four times what was in use: a run fills that with 70 MB of garbage.
  setFlagsFromString('--heap-growing-percent=120');
  // Checked before a run is created.
  logLevelIn(flags);
  const workplace = await openCommandContext(flags);
  return { ...workplace, datastore: await chooseDatastore(workplace) };
}

/** The built-in operations and the user's own. @throws a usage error `OPERATIONS_UNUSABLE` */
export async function operationsWith({ operations: module }: Settings): Promise<readonly Operation[]> {
  if (module === undefined) return operations;
  return [...operations, ...(await loadOperations(module, operations))];
}

/** @throws a usage error when a flag contains a password, or the address is invalid */
export async function chooseDatastore({ terminal, flags, settings }: CommandInput): Promise<DatastoreChoice> {
  const { queue: url, queuePrefix: prefix = defaults.queuePrefix } = settings;
  refusePasswordInFlag(flags.queue);
  const queue = await datastoreAddress(url);
  const redis = url === undefined ? undefined : { url, prefix, ...(await queuePasswords(settings)) };
  let prepared: PreparedDatastore | undefined;
  return {
    queue,
    prepare(defer) {
      // With --wait, open only when no other process holds it.
      if (redis !== undefined || settings.wait !== undefined) return;
      prepared = prepareEmbedded();
      defer(async () => (await prepared)?.thread.terminate());
    },
    async open(purpose, defer) {
      const opening = openDatastore({ redis, stateDir: stateDirOf(flags), purpose, prepared });
      prepared = undefined;
      // The work may end before the datastore is open. One that could not be opened needs no closing.
      defer(() =>
        opening.then(
          ({ datastore }) => datastore.close(),
          () => {},
        ),
      );
      const { datastore, warnings } = await opening;
      for (const warning of warnings) terminal.warn(`warning: ${warning}`);
      return datastore;
    },
  };
}

/** Command lines are visible to other users of the machine. */
function refusePasswordInFlag(url: string | undefined): void {
  if (url === undefined || !/^[^/]*:\/\/[^/@]*:[^/@]+@/.test(url)) return;
  throw usageError(
    'PASSWORD_IN_FLAG',
    'Other users of this machine can read a password in --queue: put the address into CQBATCH_QUEUE, or the password into ' +
      'CQBATCH_QUEUE_PASSWORD or a file (--queue-password-file).',
  );
}

async function queuePasswords({ queuePasswordFile }: Settings) {
  const read = () =>
    readSecret({
      file: queuePasswordFile,
      variable: 'CQBATCH_QUEUE_PASSWORD',
      what: 'the password file',
      code: 'PASSWORD_UNREADABLE',
    });
  return {
    password: await read(),
    passwordFile: queuePasswordFile === undefined ? undefined : { path: queuePasswordFile, read },
    sentinelPassword: environment['CQBATCH_SENTINEL_PASSWORD'] || undefined,
  };
}
