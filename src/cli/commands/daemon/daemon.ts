import { repeat } from '../../../base/async/repeat.ts';
import type { Defer } from '../../../base/async/scope.ts';
import type { LastingErrors } from '../../../base/errors/error-throttle.ts';
import { usageError } from '../../../base/errors/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { Metrics } from '../../../daemon/metrics/metrics.ts';
import { carryOutSchedules } from '../../../daemon/schedule/carry-out.ts';
import type { Schedule } from '../../../daemon/schedule/schedule.ts';
import { openScheduleStore } from '../../../daemon/schedule/store.ts';
import type { Datastore } from '../../../engine/datastore/datastore.ts';
import { prunableRuns, removeRuns, runsWithAwaitedManifests } from '../../../engine/run/record/prune.ts';
import { endOf } from '../../../engine/run/record/record.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import {
  type CoordinateOptions,
  coordinateRuns,
  type RunListener,
} from '../../../engine/run/work/coordinate.ts';
import { type CommandContext, saveMemory } from '../../context.ts';
import { exitCodeOf, exitCodeOfError } from '../../exit-codes.ts';
import { silentTerminal } from '../../terminal.ts';
import { apiClient, estimatedLimits, mismatchOf, type ServedApi } from '../api-client.ts';
import { entryLists } from '../listing.ts';
import { type Notifier, openNotifier } from '../run/run-scope.ts';
import { inboxFinisher, startScheduledRun } from './start-scheduled-run.ts';

export interface DaemonOptions {
  readonly datastore: Datastore;
  readonly queue: string | undefined;
  /** The API that the daemon calls. Undefined if only workers call the API. */
  readonly api: ServedApi | undefined;
  readonly metrics: Metrics | undefined;
  readonly version: string;
  readonly log: Log;
  /** Receives the errors of datastore commands that are then repeated. */
  readonly lastingErrors: LastingErrors;
  readonly stop: AbortSignal;
}

export async function runDaemon(
  context: CommandContext,
  options: DaemonOptions,
  defer: Defer,
): Promise<void> {
  const { store } = context;
  const { datastore, queue, version, api, metrics, log, lastingErrors, stop } = options;
  const notifier = await openNotifier(context, defer);
  const notifications = notifier && notificationsBy(notifier, log);
  defer(() => notifications?.allSent());
  const common = { store, datastore, log, stop };
  const schedules = openScheduleStore(store.stateDir);
  const finishInbox = inboxFinisher(context, log);
  const finishRuns = async ({ source }: Schedule): Promise<void> => {
    if ('inbox' in source) await finishInbox(source.inbox);
  };
  const finishInboxes = async (): Promise<void> => {
    for (const schedule of await schedules.list()) await finishRuns(schedule);
  };
  defer(pruneDaily(context, log, finishInboxes).stop);
  saveMemory();
  await Promise.all([
    coordinateRuns({
      ...common,
      queue,
      version,
      lastingErrors,
      observer: metrics,
      ...(api && callerFor(context, api, metrics)),
      // Lists are compared by the daemon, even if only workers call the API for rows.
      listsFor:
        ({ options }) =>
        (signal, opened) =>
          entryLists({ ...context, terminal: silentTerminal() }, options, signal, opened),
      listener: notifications,
    }),
    carryOutSchedules({
      ...common,
      runs: store,
      schedules,
      finishRuns,
      begin: (schedule, occasion) => {
        const report = async (message: string): Promise<void> => {
          notifications?.runFailed(usageError('MANIFEST_REFUSED', `schedule ${schedule.name}: ${message}`));
          await notifications?.allSent();
        };
        return startScheduledRun({ ...context, api }, schedule, occasion, report);
      },
      onFailed: ({ name }, { code, message }) =>
        notifications?.runFailed(usageError(code, `schedule ${name}: ${message}`)),
    }),
  ]);
}

/** With the embedded datastore, only this process can call the API. */
function callerFor(
  { store }: CommandContext,
  api: ServedApi,
  metrics: Metrics | undefined,
): Pick<CoordinateOptions, 'refusalOf' | 'callerFor'> {
  const { token } = api;
  return {
    refusalOf: ({ options }) => mismatchOf(api, options),
    async callerFor({ options }) {
      return {
        client: await apiClient(options, token, metrics?.observeRequests()),
        estimates: await estimatedLimits(store, options, token),
        onEvent(event) {
          if (event.type === 'started') metrics?.followRun(options, () => event.progress.pace);
        },
      };
    },
  };
}

/** Notifies of runs. `allSent` resolves when the present notifications were sent, or could not be. */
export function notificationsBy(notifier: Notifier, log: Log): RunListener & { allSent(): Promise<void> } {
  let sending = Promise.resolve();
  const send = (work: () => Promise<void>): void => {
    // A faulty notification must neither end the daemon nor hold back later ones.
    sending = sending
      .then(work)
      .catch((error: Error) => log.error({ err: error.message }, 'a notification was not sent'));
  };
  return {
    runStarted: () => send(() => notifier.commandStarted()),
    runEnded: (record, { summary, steps }) =>
      send(() =>
        notifier.commandEnded({
          run: { record, summary, steps },
          runId: record.id,
          exitCode: exitCodeOf(endOf(record), summary.outcomes),
          error: undefined,
        }),
      ),
    runFailed: (error, runId) =>
      send(() => notifier.commandEnded({ run: undefined, runId, exitCode: exitCodeOfError(error), error })),
    allSent: () => sending,
  };
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Prunes old runs daily. @param finishInboxes runs first: a manifest in an inbox whose run was removed would run again */
function pruneDaily(
  { store, settings }: CommandContext,
  log: Log,
  finishInboxes: () => Promise<void>,
): { stop(): Promise<void> } {
  const { keepLast: last, keepDays: days } = settings;
  if (last === undefined && days === undefined) return { stop: async () => {} };
  const daily = repeat(
    async () => {
      await finishInboxes();
      await pruneRuns(store, { last, days }, log);
    },
    {
      everyMs: dayMs,
      onError: ({ message }) => log.error({ err: message }, 'cannot remove old runs'),
    },
  );
  daily.now();
  return daily;
}

async function pruneRuns(store: RunStore, keep: Parameters<typeof prunableRuns>[1], log: Log): Promise<void> {
  const runs = await store.list(({ message }) => log.warn({ err: message }, 'cannot read a run'));
  const removed = prunableRuns(runs, { ...keep, ids: await runsWithAwaitedManifests(runs) }, Date.now());
  const bytes = await removeRuns(store, removed);
  if (removed.length > 0) log.info({ runs: removed.map(({ id }) => id), bytes }, 'old runs removed');
}
