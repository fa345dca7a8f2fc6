import { setFlagsFromString } from 'node:v8';
import { operations } from '../../jobs/index.ts';
import type { Defer } from '../base/async/scope.ts';
import { usageError } from '../base/errors/errors.ts';
import type { Metrics } from '../daemon/metrics/metrics.ts';
import {
  datastoreAddress,
  openDatastore,
  type PreparedDatastore,
  prepareEmbedded,
} from '../engine/datastore/open.ts';
import type { Operation } from '../engine/operation/operation.ts';
import { loadOperations } from '../engine/operation/own-operations.ts';
import type { ReadPlan } from '../engine/run/plan/file/read-plan-file.ts';
import type { RunRecord } from '../engine/run/record/record.ts';
import { checkStateFolder } from '../engine/run/record/state-folder.ts';
import {
  type CompleteCommands,
  openRunStore,
  type RunNeeds,
  type RunStore,
} from '../engine/run/record/store.ts';
import type { ConfiguredDatastore } from '../engine/run/work/find-run.ts';
import { completeCommands } from '../settings/complete-commands.ts';
import { defaults, type Settings } from '../settings/settings.ts';
import { environment, type Flags, loadSettings, readSecret, stateDirOf, trustedStateDir } from './config.ts';
import type { EndedRun } from './render/ended-run.ts';
import { logLevelIn, openTerminal, type Terminal } from './terminal.ts';

export interface CommandInput {
  readonly terminal: Terminal;
  readonly flags: Flags;
  readonly settings: Settings;
}

export interface CommandContext extends CommandInput {
  readonly store: RunStore;
  /** The plan file to run. Its options replace flags and settings. */
  readonly planFile?: ReadPlan;
  readonly onRefused?: (refused: RefusedManifest) => void;
}

export interface RefusedManifest {
  readonly refusalMessage: string;
  readonly problems?: string | undefined;
}

export interface DatastoreChoice extends ConfiguredDatastore {
  /** Starts the slow part of opening the datastore. */
  prepare(defer: Defer): void;
}

export interface Context extends CommandContext {
  readonly datastore: DatastoreChoice;
  /** Called with the record when a run starts. @param stop interrupts the run, like Ctrl-C */
  readonly onStarted?: (record: RunRecord, stop: () => void) => void;
  readonly onEnded?: (ended: EndedRun) => void;
  /** Called with what became of all manifests of an inbox: `2 manifests: 1 done, 1 failed.` */
  readonly onInboxDone?: (text: string) => void;
  readonly metrics?: Metrics | undefined;
}

/** Opens the state folder of a command that plans or calls rows: loads the module of `--operations`, which is code. */
export async function openPlanningContext(flags: Flags): Promise<CommandContext> {
  const context = await openCommandContext(flags);
  const { stateDir, completed } = context.store;
  return { ...context, store: openRunStore(stateDir, await operationsWith(context.settings), completed) };
}

/** Opens the state folder of a command that calls no rows. Runs no code that the state folder names. */
export async function openCommandContext(flags: Flags): Promise<CommandContext> {
  const terminal = openTerminal(flags);
  const stateDir = await trustedStateDir(flags);
  for (const warning of await checkStateFolder(stateDir)) terminal.warn(`warning: ${warning}`);
  const settings = await loadSettings(flags);
  const completed: CompleteCommands = (text, run) =>
    completeCommands(text, { ...(run && flagsFor(run, settings)), ...flags });
  return { terminal, flags, settings, store: openRunStore(stateDir, operations, completed) };
}

/** The options of a command that calls rows of a run, as far as the settings do not say them. */
function flagsFor(
  { baseUrl, rateGroup, allowInsecureHttp, lacksOperations }: RunNeeds,
  settings: Settings,
): Flags {
  return {
    ...(lacksOperations && settings.operations === undefined && { operations: 'FILE' }),
    ...(settings.baseUrl !== baseUrl && { baseUrl }),
    ...(settings.rateGroup !== rateGroup && { rateGroup }),
    ...(allowInsecureHttp && { allowInsecureHttp }),
  };
}

/** Opens what `openPlanningContext` opens, and the datastore. */
export async function openRunContext(flags: Flags): Promise<Context> {
  return withDatastore(flags, openPlanningContext);
}

/** Opens what `openCommandContext` opens, and the datastore. */
export async function openContext(flags: Flags): Promise<Context> {
  return withDatastore(flags, openCommandContext);
}

/**
 * Collects garbage early. By default, V8 lets old objects grow to four times the memory in use: 70 MB in a run.
 *
 * Call this when the code of a command is loaded: after a flag of V8 has changed, Node compiles its own modules without their code cache,
 * which takes 20 ms of a start.
 */
export function saveMemory(): void {
  setFlagsFromString('--heap-growing-percent=120');
}

async function withDatastore(flags: Flags, open: typeof openCommandContext): Promise<Context> {
  // An invalid log level must be refused before a run is created.
  logLevelIn(flags);
  const context = await open(flags);
  return { ...context, datastore: await chooseDatastore(context) };
}

/** The operations of the service, and those of the module that the user names. */
export async function operationsWith({ operations: module }: Settings): Promise<readonly Operation[]> {
  if (module === undefined) return operations;
  return [...operations, ...(await loadOperations(module, operations))];
}

/** Chooses Redis or the embedded datastore. @throws a usage error for a password in a flag, or an invalid address */
export async function chooseDatastore({ terminal, flags, settings }: CommandInput): Promise<DatastoreChoice> {
  const { queue: url, queuePrefix: prefix = defaults.queuePrefix, queueMayEvict: mayEvict } = settings;
  refusePasswordInFlag(flags.queue);
  const queue = await datastoreAddress(url);
  const redis =
    url === undefined ? undefined : { url, prefix, mayEvict, ...(await queuePasswords(settings)) };
  let prepared: PreparedDatastore | undefined;
  return {
    queue,
    prepare(defer) {
      // The embedded datastore is not prepared with --wait: another process may hold it for a long time.
      if (redis !== undefined || settings.wait !== undefined) return;
      prepared = prepareEmbedded();
      defer(async () => (await prepared)?.thread.terminate());
    },
    async open(purpose, defer) {
      const opening = openDatastore({ redis, stateDir: stateDirOf(flags), purpose, prepared });
      prepared = undefined;
      // If the work fails while the datastore is opening, the datastore is closed as soon as it has opened.
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

/** Refuses a password in `--queue`. @throws a usage error: other users of the machine can see command lines */
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
      secretName: 'the password file',
      code: 'PASSWORD_UNREADABLE',
    });
  return {
    password: await read(),
    passwordFile:
      queuePasswordFile === undefined ? undefined : { path: queuePasswordFile, readPassword: read },
    sentinelPassword: environment['CQBATCH_SENTINEL_PASSWORD'] || undefined,
  };
}
