import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { openEmbedded } from '../datastore/embedded/embedded.ts';
import type { Journal } from '../journal/journal.ts';
import { openJournal } from '../journal/open.ts';
import type { WrittenReports } from '../report/write-reports.ts';
import { clearCancelRequest } from '../run/cancel-request.ts';
import { openPlannedManifest } from '../run/open-manifest.ts';
import { enterState, type RunRecord } from '../run/record.ts';
import { reportRun } from '../run/report-run.ts';
import { settleRun } from '../run/settle-run.ts';
import type { RunStore } from '../run/store.ts';
import { unfinishedTasks } from '../run/tasks.ts';
import type { WorkerEvent } from './row-processor.ts';
import { type RunEnd, runHere } from './run-here.ts';

export interface ExecuteRunOptions {
  readonly store: RunStore;
  /** Planned, or stopped before its end. */
  readonly record: RunRecord;
  /** Opens the run's journal, once this process is the only one that works on the runs of the state folder. */
  readonly openJournal: () => Promise<Journal>;
  readonly client: ApiClient;
  readonly log: Logger;
  /** Aborts when the user wants the run to stop. */
  readonly interrupt: AbortSignal;
  /** Called before the first row is fed, with the counts of rows that have a result already. */
  readonly onStarted: (counts: Journal['outcomeCounts']) => void;
  readonly onEvent: (event: WorkerEvent) => void;
  /** Called when no more rows are called, before the report is written. */
  readonly onEnded: () => void;
}

export interface ExecutedRun {
  readonly record: RunRecord;
  readonly end: RunEnd;
  readonly reports: WrittenReports;
}

/**
 * Takes a run from where its journal stands to its end, records each state that it enters, and writes its report,
 * whatever the end is.
 *
 * @throws a fatal error when the datastore or the disk fails; the run is then in state `failed`, if that could still
 *   be written, and can be resumed.
 */
export async function executeRun(options: ExecuteRunOptions): Promise<ExecutedRun> {
  const { store } = options;
  const { id } = options.record;
  const datastore = await openEmbedded({ stateDir: store.stateDir, purpose: `run ${id}` });
  try {
    const journal = await options.openJournal();
    try {
      await settleOthers(store, datastore, id);
      return await execute(options, datastore, journal);
    } finally {
      await journal.close();
    }
  } finally {
    await datastore.close();
  }
}

async function execute(
  options: ExecuteRunOptions,
  datastore: Datastore,
  journal: Journal,
): Promise<ExecutedRun> {
  const { store } = options;
  const { id, manifest, options: runOptions } = options.record;
  const runFolder = store.folder(id);
  const planned = await openPlannedManifest(join(runFolder, manifest.file), manifest.name, runOptions);
  await settleRun(datastore, journal, id, runOptions.baseUrl);
  await clearCancelRequest(runFolder);

  const running = enterState(options.record, 'running');
  await store.save(running);
  options.onStarted(journal.outcomeCounts);
  try {
    const end = await runHere({
      runId: id,
      runFolder,
      options: runOptions,
      datastore,
      journal,
      tasks: unfinishedTasks(id, planned.manifest.rows(), planned.prepare, journal),
      client: options.client,
      log: options.log,
      onEvent: options.onEvent,
      interrupt: options.interrupt,
    });
    options.onEnded();
    await settleRun(datastore, journal, id, runOptions.baseUrl);
    const record = { ...enterState(running, end.state, reasonOf(end)), counts: { ...journal.outcomeCounts } };
    await store.save(record);
    return { record, end, reports: await reportRun(store, record, journal) };
  } catch (error) {
    await store.save(enterState(running, 'failed', (error as Error).message));
    throw error;
  }
}

function reasonOf(end: RunEnd): string | undefined {
  if (end.state !== 'halted') return undefined;
  return end.because === 'threshold' ? 'more failures than --max-failures allows' : end.failure.message;
}

/** Runs whose process died left rows in the datastore; they must not be called behind the user's back. */
async function settleOthers(store: RunStore, datastore: Datastore, ownId: string): Promise<void> {
  for (const record of await store.list()) {
    if (record.id === ownId || (record.state !== 'running' && record.state !== 'failed')) continue;
    const journal = await openJournal(join(store.folder(record.id), 'journal.jsonl'), { runId: record.id });
    try {
      await settleRun(datastore, journal, record.id, record.options.baseUrl);
    } finally {
      await journal.close();
    }
    await store.save(enterState(record, 'interrupted', 'its process ended'));
  }
}
