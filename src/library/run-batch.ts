import { withScope } from '../base/async/scope.ts';
import { neverAborted } from '../base/async/waiting.ts';
import { hashFile } from '../base/disk/hash-file.ts';
import { BusyError, errorText, usageError } from '../base/errors/errors.ts';
import { harmlessCallback, harmlessLog } from '../base/errors/harmless.ts';
import { type Log, silentLog } from '../base/log.ts';
import { readVersion } from '../base/package.ts';
import { withActor } from '../domain/actor.ts';
import type { ApiClient } from '../engine/api/client.ts';
import { datastoreAddress, openDatastore } from '../engine/datastore/open.ts';
import type { Journal } from '../engine/journal/journal.ts';
import type { RunSummary } from '../engine/report/summary.ts';
import type { ReportPaths, WrittenReports } from '../engine/report/write-reports.ts';
import { beginRun, type CreatedRun, discard } from '../engine/run/plan/create-run.ts';
import { type RunResult, resultOf, type StoredEnd } from '../engine/run/record/ending.ts';
import {
  actualState,
  endOf,
  isHaltedByGuard,
  isResumable,
  type RunRecord,
} from '../engine/run/record/record.ts';
import { refuseChangedRows } from '../engine/run/record/run-rows.ts';
import type { RunStore } from '../engine/run/record/store.ts';
import { rewriteReport } from '../engine/run/report/report-run.ts';
import { executeRun } from '../engine/run/work/execute-run.ts';
import { isRowEvent, type RowEvent } from '../engine/run/work/progress.ts';
import { budgetOf, newRunOptions, rowOptions } from '../settings/run-options.ts';
import { defaults, type Settings } from '../settings/settings.ts';
import { listsToRead, listsWith } from './listing.ts';
import { type BatchOptions, lookUpRun, missingOption, openBatchPlace } from './place.ts';
import { type BatchPlan, batchPlan } from './plan-batch.ts';
import { inProgramWords, withProgramWords } from './program-words.ts';

/** An event of a batch, for display and logs. The final results of rows are those of `results`. */
export type BatchEvent =
  /** Every row was checked; the first call follows. */
  { readonly type: 'planned'; readonly run: string; readonly plan: BatchPlan } | RowEvent;

export interface RunBatchOptions extends BatchOptions {
  /** Calls the API, with as many `connections` as calls may be in flight. `runBatch` does not close the client. */
  readonly client: ApiClient;
  /** The id of the run: up to 63 lowercase letters, digits, "-" and "_". Default: made from the time. */
  readonly runId?: string;
  /**
   * Whether to resume a stopped run with this `runId`. A run that is finished, or that a guard has halted, is not resumed: its
   * result is returned. Default: false; an existing run is an error.
   */
  readonly orResume?: boolean;
  /** Why the batch is run, for later readers. */
  readonly reason?: string;
  /** Stops the run once calls in flight have ended. `orResume` can resume it. */
  readonly signal?: AbortSignal;
  /** Called with each event. An error of this function is logged the first time, and the run continues. */
  readonly onEvent?: (event: BatchEvent) => void;
  /** The log for events of the run and its rows. Default: none. */
  readonly log?: Log;
}

/** The result of a batch. */
export interface BatchResult {
  /** Id of the run, which `results` and every command accept. */
  readonly run: string;
  readonly result: RunResult;
  /** Why the run ended before all rows had results; absent if all have. */
  readonly reason?: string;
  /** The content of `summary.json`. */
  readonly summary: RunSummary;
  readonly files: ReportPaths;
}

/**
 * Runs a manifest to its end: checks every row, calls the API, and writes the report. It is as safe as the command: a
 * killed process leaves a run that can be resumed, without losing a row, or calling a row twice without marking it unclear.
 *
 * @throws CqbatchError `usage` when rows may not be called (the code is that of `BatchPlan.refusal`) or a setting can't be
 *   read: nothing was sent. `busy` when another process works on the run. `fatal` when the datastore or the disk fails.
 */
export function runBatch(batch: RunBatchOptions): Promise<BatchResult> {
  return withProgramWords(() => runToEnd(withHarmlessListeners(batch)));
}

async function runToEnd(options: RunBatchOptions): Promise<BatchResult> {
  const { runId, orResume = false, manifest, client } = options;
  if (typeof manifest !== 'string') throw missingOption('manifest', 'the path of a file');
  if (typeof client?.send !== 'function') throw missingOption('client', 'what createClient makes');
  const { store, settings } = openBatchPlace(options);
  const existing = runId !== undefined && orResume ? await lookUpRun(store, runId) : undefined;
  if (existing === undefined) {
    const created = await beginBatch(store, settings, options);
    return executeBatch(store, settings, options, created.record, created.journal);
  }
  await refuseOtherRun(existing, manifest, client.baseUrl);
  const state = actualState(existing);
  if (state === 'running' || state === 'paused')
    throw new BusyError('RUN_RUNNING', `Run ${runId} is ${state}`, 'Wait until it ends.');
  if (!isResumable(state) || isHaltedByGuard(existing)) return endedBatch(store, existing);
  await refuseChangedRows(store, existing);
  return executeBatch(store, settings, options, existing);
}

function withHarmlessListeners({ onEvent, ...options }: RunBatchOptions): RunBatchOptions {
  const log = harmlessLog(options.log ?? silentLog);
  if (onEvent === undefined) return { ...options, log };
  const report = (error: unknown) =>
    log.error({ err: errorText(error) }, 'onEvent fails, and the run goes on');
  return { ...options, log, onEvent: harmlessCallback(onEvent, report) };
}

/** @throws a usage error when the rows must not be called */
async function beginBatch(
  store: RunStore,
  settings: Settings,
  options: RunBatchOptions,
): Promise<CreatedRun> {
  const { manifest: source, runId, client, reason, onEvent } = options;
  const input = { maxBytes: settings.maxManifestSize ?? defaults.maxManifestSize };
  const run = {
    rows: { kind: 'manifest', source, reading: rowOptions(options, settings), input },
    options: { baseUrl: client.baseUrl, ...newRunOptions(options, settings) },
    permits: { ...settings, skipInvalid: options.skipInvalid },
    runId,
    attribution: withActor(reason),
  } as const;
  const begun = await withScope(async (defer) => {
    const lists = await listsToRead(client, store, settings)?.(options.signal ?? neverAborted, defer);
    const rows = { ...run.rows, lists };
    return beginRun(
      store,
      { ...run, rows },
      {
        show(judged) {
          const plan = batchPlan(judged);
          const { refusal, problems } = plan;
          if (refusal !== undefined) {
            const first = problems.slice(0, 3).join('\n');
            throw usageError(refusal.code, `${refusal.message} Nothing was sent.\n${first}`.trim());
          }
          onEvent?.({ type: 'planned', run: judged.record.id, plan });
        },
        confirm: async () => true,
      },
    );
  });
  if (begun === undefined) throw new TypeError('A program declines no plan that is ready.');
  return begun;
}

/** @param journal of a new run, already open; an error that prevents the start removes the run */
async function executeBatch(
  store: RunStore,
  settings: Settings,
  options: RunBatchOptions,
  record: RunRecord,
  journal?: Journal,
): Promise<BatchResult> {
  const { client, signal, reason, onEvent, log = silentLog } = options;
  const { queue: url, queuePrefix: prefix = defaults.queuePrefix, queueMayEvict: mayEvict } = settings;
  let hasStarted = false;
  const executed = withScope(async (defer) => {
    const queue = await datastoreAddress(url);
    const { datastore, warnings } = await openDatastore({
      redis: url === undefined ? undefined : { url, prefix, mayEvict },
      stateDir: store.stateDir,
      purpose: `run ${record.id}`,
    });
    defer(() => datastore.close());
    for (const warning of warnings) log.warn({}, warning);
    return executeRun({
      store,
      record,
      datastore,
      queue,
      journal,
      client,
      openLists: listsWith(client, store, settings),
      log,
      onEvent(event) {
        if (event.type === 'started') hasStarted = true;
        else if (isRowEvent(event)) onEvent?.(event);
      },
      version: readVersion(),
      attribution: withActor(reason),
      budget: budgetOf(settings),
      interrupt: signal ?? neverAborted,
    });
  });
  const { end, reports } = await executed.catch(async (error) => {
    if (!hasStarted && journal !== undefined) await discard(store, record.id, journal);
    throw error;
  });
  if (reports === undefined) throw new TypeError('Only a daemon hands runs over.');
  return batchResult(record.id, end, end.reason, reports);
}

async function endedBatch(store: RunStore, record: RunRecord): Promise<BatchResult> {
  const reports = await rewriteReport(store, record);
  const { reason } = record.states.at(-1) ?? {};
  return batchResult(record.id, endOf(record), reason, reports);
}

function batchResult(
  run: string,
  end: StoredEnd,
  reason: string | undefined,
  { summary, paths: files }: WrittenReports,
): BatchResult {
  const result = resultOf(end, summary.outcomes);
  return { run, result, ...(reason !== undefined && { reason: inProgramWords(reason) }), summary, files };
}

/** The run must have the same rows and API. */
async function refuseOtherRun({ id, manifest, options }: RunRecord, source: string, baseUrl: string) {
  if (options.baseUrl !== baseUrl)
    throw usageError(
      'OTHER_API',
      `Run ${id} was started on ${options.baseUrl}, but the client calls ${baseUrl}.`,
    );
  if ((await hashFile(source)).sha256 !== manifest.sha256)
    throw usageError('RUN_EXISTS', `Run ${id} already exists, for another manifest: choose another runId.`);
}
