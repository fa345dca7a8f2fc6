import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exists, ifThere, makeFolder } from '../../../base/disk/files.ts';
import { readJsonFile, writeJsonFile } from '../../../base/disk/json-file.ts';
import { isAbandoned, keepFolder, ownFolder, removeAbandoned } from '../../../base/disk/owned-folder.ts';
import { BusyError, type CqbatchError, fatalError, usageError } from '../../../base/errors/errors.ts';
import { onDisk, systemError } from '../../../base/errors/system-error.ts';
import { runIds } from '../../../domain/names.ts';
import type { LimitedApi } from '../../../domain/terms.ts';
import { isActive } from '../../cluster/entries.ts';
import type { Operation } from '../../operation/operation.ts';
import { actualState, plannedAt, type RunRecord, runRecordSchema } from './record.ts';
import { idsMeantBy, newRunId } from './run-id.ts';
import { withoutLostProcess } from './run-lock.ts';

const recordFile = 'run.json';

/**
 * Adds to the commands in a text the options with which the user has named this store, its operations and their API.
 *
 * @param run whose rows the commands may call: they name its API, and its module of operations, unless settings do
 */
export type CompleteCommands = (text: string, run?: RunNeeds) => string;

/** What a command must know to call rows of a run, beside the run. */
export interface RunNeeds extends LimitedApi {
  readonly allowInsecureHttp?: boolean | undefined;
  /** Whether the run needs operations of the user that this process has not loaded. */
  readonly lacksOperations: boolean;
}

export type RunStore = Readonly<ReturnType<typeof openRunStore>>;

/**
 * Opens the store of a state folder's runs. "Files of a run" in docs/architecture.md lists the files.
 *
 * @param completed completes the commands that a person may type about the runs. Default: they stay as they are.
 */
export function openRunStore(
  stateDir: string,
  operations: readonly Operation[],
  completed: CompleteCommands = (text) => text,
) {
  const runsDir = join(stateDir, 'runs');
  const folder = (id: string): string => join(runsDir, runIds.require(id));

  const read = async (id: string): Promise<RunRecord | undefined> => {
    const path = join(folder(id), recordFile);
    const record = await readJsonFile(path, runRecordSchema, (cause) =>
      fatalError('RUN_UNREADABLE', `${path} is damaged: restore it from a backup.`, cause),
    );
    return record && withoutLostProcess({ folder, stateDir }, path, record);
  };

  const ids = async (): Promise<readonly string[]> => {
    const names = (await ifThere(readdir(runsDir))) ?? [];
    return names.filter(runIds.has).sort();
  };

  /** Removes abandoned plans, which have no record, and perhaps a large copy of a manifest. */
  const removeAbandonedPlans = async (): Promise<void> => {
    const removeIfAbandoned = async (id: string): Promise<void> => {
      // Check the owner before the record: a living owner may save the record and end in between.
      if (!(await isAbandoned(folder(id)))) return;
      if ((await read(id).catch(() => true)) === undefined)
        await rm(folder(id), { recursive: true, force: true });
    };
    await Promise.all((await ids()).map(removeIfAbandoned));
  };

  /**
   * Creates the folder of a run. Other processes see the run once its record is saved.
   *
   * @throws a usage error `RUN_EXISTS` for a known id; a busy error when that run is in progress or being planned; a fatal error when its
   *   record is damaged
   */
  const create = async (wanted?: string): Promise<{ readonly id: string; readonly folder: string }> => {
    await makeFolder(runsDir);
    await removeAbandonedPlans();
    await onDisk(stateDir, () => removeAbandoned(stateDir));
    const id = wanted ?? newRunId();
    try {
      await mkdir(folder(id), { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw systemError(error, folder(id)) ?? error;
      if (wanted === undefined) return create();
      throw existingRun(id, stateDir, await read(id));
    }
    try {
      await onDisk(folder(id), () => ownFolder(folder(id)));
    } catch (error) {
      await rm(folder(id), { recursive: true, force: true });
      throw error;
    }
    return { id, folder: folder(id) };
  };

  return {
    operations,
    stateDir,
    completed,
    folder,
    create,
    async look(id: string): Promise<RunRecord | 'being planned' | undefined> {
      const record = await read(id);
      if (record !== undefined) return record;
      return (await exists(folder(id))) && !(await isAbandoned(folder(id))) ? 'being planned' : undefined;
    },
    async save(record: RunRecord): Promise<void> {
      await writeJsonFile(join(folder(record.id), recordFile), record);
      await keepFolder(folder(record.id));
    },
    /** @throws a usage error `RUN_UNKNOWN` for an id without a run */
    async load(id: string): Promise<RunRecord> {
      const record = runIds.has(id) ? await read(id) : undefined;
      if (record === undefined) throw unknownRun(id, stateDir);
      return record;
    },
    /**
     * @param name an id or a unique part of it
     * @throws a usage error `RUN_UNKNOWN`, or `RUN_AMBIGUOUS` when several runs match
     */
    async find(name: string): Promise<RunRecord> {
      const [only, ...more] = inOrderOfTime(await Promise.all(idsMeantBy(name, await ids()).map(read)));
      if (only === undefined) throw unknownRun(name, stateDir);
      if (more.length === 0) return only;
      const found = [only, ...more].map(({ id }) => id);
      throw ambiguousRun(name, found);
    },
    /**
     * All records, the oldest first. Skips folders without a record (a plan that was declined or died).
     *
     * @param onUnreadable gets errors of damaged records; without it they are thrown
     * @param skippedIds ids to skip without reading
     */
    async list(
      onUnreadable?: (error: Error) => void,
      skippedIds?: ReadonlySet<string>,
    ): Promise<readonly RunRecord[]> {
      const readable = (id: string): Promise<RunRecord | undefined> =>
        onUnreadable === undefined ? read(id) : read(id).catch((error) => void onUnreadable(error));
      const wanted = (await ids()).filter((id) => !skippedIds?.has(id));
      return inOrderOfTime(await Promise.all(wanted.map(readable)));
    },
    async discard(id: string): Promise<void> {
      await rm(folder(id), { recursive: true, force: true });
    },
  };
}

function unknownRun(name: string, stateDir: string): CqbatchError {
  return usageError('RUN_UNKNOWN', `There is no run ${name} in ${stateDir}. "cqbatch list" shows all runs.`);
}

/** @param record absent while the run is being planned */
function existingRun(id: string, stateDir: string, record: RunRecord | undefined): CqbatchError {
  const what = `Run ${id} already exists in ${stateDir}`;
  const remedy = `"cqbatch status ${id}" shows it.`;
  const state = record === undefined ? 'being planned' : actualState(record);
  if (record !== undefined && !isActive(state)) return usageError('RUN_EXISTS', `${what}: ${remedy}`);
  return new BusyError('RUN_EXISTS', `${what}, which is ${state}`, remedy);
}

const mostShownIds = 10;

/** @param ids matching ids, oldest first */
export function ambiguousRun(name: string, ids: readonly string[]): CqbatchError {
  const shown = ids.toReversed().slice(0, mostShownIds).join(', ');
  const more = ids.length > mostShownIds ? ` and ${ids.length - mostShownIds} more` : '';
  return usageError(
    'RUN_AMBIGUOUS',
    `"${name}" matches ${ids.length} runs (${shown}${more}): type more of the id.`,
  );
}

/** Sorts records, the oldest first. Ids sort by time unless users chose them. */
function inOrderOfTime(records: readonly (RunRecord | undefined)[]): readonly RunRecord[] {
  const key = (record: RunRecord): string => `${plannedAt(record)} ${record.id}`;
  return records.filter((record) => record !== undefined).toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
