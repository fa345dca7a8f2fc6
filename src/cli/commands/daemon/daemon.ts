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
import { requireKeptApprovals } from '../../../engine/run/plan/plan-of-run.ts';
import { awaitedRuns, prunable, removeRuns } from '../../../engine/run/record/prune.ts';
import { endOf } from '../../../engine/run/record/record.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { nextCommands } from '../../../engine/run/report/next-commands.ts';
import {
  type CoordinateOptions,
  coordinateRuns,
  type RunNews,
} from '../../../engine/run/session/coordinate.ts';
import { approvalPolicy } from '../../../settings/run-options.ts';
import type { CommandContext } from '../../context.ts';
import { exitCodeOf, exitCodeOfError } from '../../exit-codes.ts';
import { apiClient, estimatedLimits, mismatchOf, type ServedApi } from '../api-client.ts';
import { type Notifier, notifierOf } from '../run/run-scope.ts';
import { inboxFinisher, startScheduledRun } from './start-scheduled-run.ts';

export interface DaemonOptions {
  readonly datastore: Datastore;
  readonly queue: string | undefined;
  /** The API to call in this process; undefined if workers call it. */
  readonly api: ServedApi | undefined;
  /** Counts runs and requests. */
  readonly metrics: Metrics | undefined;
  readonly version: string;
  readonly log: Log;
  /** Hears of the errors of commands that are repeated. */
  readonly failing: LastingErrors;
  readonly stop: AbortSignal;
}

/** `cqbatch worker --coordinate`: completes submitted runs, carries out schedules, removes old runs. */
export async function runDaemon(
  workplace: CommandContext,
  options: DaemonOptions,
  defer: Defer,
): Promise<void> {
  const { store } = workplace;
  const { datastore, queue, version, api, metrics, log, failing, stop } = options;
  const notifier = await notifierOf(workplace, defer);
  const news = notifier && newsTo(notifier, log);
  defer(() => news?.told());
  const common = { store, datastore, log, stop };
  const schedules = openScheduleStore(store.stateDir);
  const finishInbox = inboxFinisher(store, log);
  const finish = async ({ source }: Schedule): Promise<void> => {
    if ('inbox' in source) await finishInbox(source.inbox);
  };
  const finishAll = async (): Promise<void> => {
    for (const schedule of await schedules.list()) await finish(schedule);
  };
  defer(pruneDaily(workplace, log, finishAll).stop);
  await Promise.all([
    coordinateRuns({
      ...common,
      queue,
      version,
      failing,
      observer: metrics,
      // The user who submitted a run may have had other settings.
      admit: (record) => requireKeptApprovals(store, record, approvalPolicy(workplace.settings)),
      ...(api && callerFor(workplace, api, metrics)),
      news,
    }),
    carryOutSchedules({
      ...common,
      runs: store,
      schedules,
      finish,
      begin: (schedule, occasion) => {
        const tell = async (message: string): Promise<void> => {
          news?.failed(usageError('MANIFEST_REFUSED', `schedule ${schedule.name}: ${message}`));
          await news?.told();
        };
        return startScheduledRun({ ...workplace, api }, schedule, occasion, tell);
      },
      onFailed: ({ name }, { code, message }) =>
        news?.failed(usageError(code, `schedule ${name}: ${message}`)),
    }),
  ]);
}

/** With the embedded datastore, this process calls the API, like "cqbatch run". */
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
        onStarted({ progress }) {
          if (metrics !== undefined) metrics.paceOfRun = () => progress.snapshot().pace;
        },
      };
    },
  };
}

/** Sends notifications one after the other; only the daemon's end waits for them. */
export function newsTo(notifier: Notifier, log: Log): RunNews & { told(): Promise<void> } {
  let telling = Promise.resolve();
  const tell = (work: () => Promise<void>): void => {
    // News of one run that can't be composed must not end the daemon, nor keep back those of others.
    telling = telling
      .then(work)
      .catch((error: Error) => log.error({ err: error.message }, 'a notification was not sent'));
  };
  return {
    started: () => tell(() => notifier.started()),
    ended: (record, { summary }) =>
      tell(() =>
        notifier.ended({
          run: { record, summary, next: nextCommands(record, summary) },
          runId: record.id,
          exitCode: exitCodeOf(endOf(record), summary.outcomes),
          error: undefined,
        }),
      ),
    failed: (error, runId) =>
      tell(() => notifier.ended({ run: undefined, runId, exitCode: exitCodeOfError(error), error })),
    told: () => telling,
  };
}

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Removes old runs at start and once a day, if configured.
 *
 * @param before work that needs ended runs: without its run, a taken manifest would be run again
 */
function pruneDaily(
  { store, settings }: CommandContext,
  log: Log,
  before: () => Promise<void>,
): { stop(): Promise<void> } {
  const { keepLast: last, keepDays: days } = settings;
  if (last === undefined && days === undefined) return { stop: async () => {} };
  const daily = repeat(
    async () => {
      await before();
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

async function pruneRuns(store: RunStore, keep: Parameters<typeof prunable>[1], log: Log): Promise<void> {
  const runs = await store.list(({ message }) => log.warn({ err: message }, 'cannot read a run'));
  const removed = prunable(runs, { ...keep, ids: await awaitedRuns(runs) }, Date.now());
  const bytes = await removeRuns(store, removed);
  if (removed.length > 0) log.info({ runs: removed.map(({ id }) => id), bytes }, 'old runs removed');
}
