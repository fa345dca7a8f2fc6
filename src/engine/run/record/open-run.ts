import { type Defer, withScope } from '../../../base/async/scope.ts';
import { onAbort } from '../../../base/async/waiting.ts';
import { makePrivate } from '../../../base/disk/files.ts';
import { lockPath, type ProcessLock } from '../../../base/disk/lock.ts';
import { removeHalfDone } from '../../../base/disk/owned-folder.ts';
import { BusyError } from '../../../base/errors/errors.ts';
import type { Datastore } from '../../datastore/datastore.ts';
import { watchRefusals } from '../../datastore/refusals.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RunPolicy } from '../../queue/payload.ts';
import { openRowQueue, type RowQueue } from '../../queue/row-queue.ts';
import { type AnswerFile, answerFile } from './answer-file.ts';
import type { RunRecord } from './record.ts';
import { openRunJournal } from './run-journal.ts';
import { runLockPath } from './run-lock.ts';
import { runPolicy } from './run-policy.ts';
import type { RunStore } from './store.ts';
import { succeededBefore } from './targets.ts';

export interface OpenRun {
  readonly store: RunStore;
  readonly record: RunRecord;
  readonly datastore: Datastore;
  /** The rows of all runs of the API. */
  readonly rows: RowQueue;
  readonly journal: Journal;
  readonly policy: RunPolicy;
  readonly answers: AnswerFile;
  /** Aborted with the reason when the datastore, the journal or the lock is lost for good. */
  readonly lost: AbortSignal;
}

export interface OpenRunInput extends Pick<OpenRun, 'store' | 'record' | 'datastore'> {
  /** What this process does with the run, for users that find the run locked. */
  readonly purpose: string;
  /** The journal of a new run, closed at the end. Default: opens the file. */
  readonly journal?: Journal | undefined;
  /** A lock on the run that the caller holds, and that is not released here. */
  readonly lock?: ProcessLock | undefined;
  /** Whether to wait without limit for a shared datastore that refuses. Default: after some time it counts as lost. */
  readonly waitsForDatastore?: boolean;
}

/**
 * Works on a run, and closes everything in reverse order of opening.
 *
 * @throws a busy error `RUN_LOCKED` when another process works on the run
 */
export function withOpenRun<Result>(
  { store, record, datastore, purpose, ...input }: OpenRunInput,
  work: (run: OpenRun, defer: Defer) => Promise<Result>,
): Promise<Result> {
  return withScope(async (defer) => {
    const { id, options } = record;
    const folder = store.folder(id);
    let { lock } = input;
    // The process with the embedded datastore owns all runs of its state folder.
    if (lock === undefined && !datastore.exclusive) {
      const own = await lockRun(folder, id, purpose);
      defer(() => own.release());
      lock = own;
    }
    await makePrivate(folder);
    await removeHalfDone(folder);
    const rows = openRowQueue(datastore, options);
    defer(() => rows.close());
    const journal = input.journal ?? (await openRunJournal(store, record));
    defer(() => journal.close());
    const answers = answerFile(folder);
    defer(() => answers.close());
    const succeeded = await succeededBefore(store.stateDir, options.baseUrl, store.operations);
    const policy = runPolicy(record, journal, store.operations, succeeded);
    const losing = new AbortController();
    const lose = (reason: Error): void => losing.abort(reason);
    for (const lost of [journal.lost, lock?.lost]) void lost?.then(lose);
    if (datastore.exclusive || !input.waitsForDatastore) {
      defer(onAbort(datastore.lost, () => lose(datastore.lost.reason)));
      defer(watchRefusals(datastore, options.maxOutageMs, lose).stop);
    }
    const { signal: lost } = losing;
    return work({ store, record, datastore, rows, journal, policy, answers, lost }, defer);
  });
}

/**
 * Locks a run against all other processes that see its folder.
 *
 * @throws a busy error `RUN_LOCKED`
 */
export function lockRun(runFolder: string, runId: string, purpose: string): Promise<ProcessLock> {
  return lockPath({
    path: runLockPath(runFolder),
    purpose,
    taken: (who) =>
      new BusyError(
        'RUN_LOCKED',
        `Run ${runId} is in use by ${who}`,
        `Wait for its end, or cancel it with "cqbatch cancel ${runId}".`,
      ),
  });
}
