import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isActive } from '../../cluster/entries.ts';
import { exists, makeFolder } from '../../disk/files.ts';
import { readJsonFile, writeJsonFile } from '../../disk/json-file.ts';
import { isAbandoned, keepFolder, ownFolder, removeAbandoned } from '../../disk/owned-folder.ts';
import { BusyError, type CqbatchError, fatalError, usageError } from '../../errors.ts';
import type { Operation } from '../../operation/operation.ts';
import { onDisk, systemError } from '../../system-error.ts';
import { actualState, type RunRecord, runRecordSchema } from './record.ts';
import { idsMeantBy, isRunId, newRunId } from './run-id.ts';

/** The runs of a state folder: one folder each, see DESIGN of the files in docs/architecture.md. */
export interface RunStore {
  readonly stateDir: string;
  /** What their rows may be for. */
  readonly operations: readonly Operation[];
  folder(id: string): string;
  /**
   * Makes the folder of a new run; nothing else sees it until its record is saved.
   *
   * @param wanted the id that the user chose, if so.
   * @throws a usage error `RUN_EXISTS` when there is a run of that id; a busy error when it is going or being planned.
   */
  create(wanted?: string): Promise<{ readonly id: string; readonly folder: string }>;
  /** The run of that id, or that somebody is planning one; undefined when the id is free. */
  look(id: string): Promise<RunRecord | 'being planned' | undefined>;
  /** Replaces the record, whole or not at all. */
  save(record: RunRecord): Promise<void>;
  /** @throws a usage error `RUN_UNKNOWN` when there is no run of that id. */
  load(id: string): Promise<RunRecord>;
  /**
   * The run that a user names by its id, or by a part that no other id has.
   *
   * @throws a usage error `RUN_UNKNOWN` when there is none, `RUN_AMBIGUOUS` when there are several.
   */
  find(name: string): Promise<RunRecord>;
  /**
   * All runs, oldest first. Folders without a record (a plan that was declined or died) are left out.
   *
   * @param onUnreadable takes the error of a damaged record, and the others are listed; without it, it is thrown.
   * @param but ids of runs that are left out, and not read.
   */
  list(onUnreadable?: (error: Error) => void, but?: ReadonlySet<string>): Promise<readonly RunRecord[]>;
  /** Removes a run that has never been started. */
  discard(id: string): Promise<void>;
}

const recordFile = 'run.json';

export function openRunStore(stateDir: string, operations: readonly Operation[]): RunStore {
  const runsDir = join(stateDir, 'runs');
  const folder = (id: string): string => join(runsDir, id);

  const read = async (id: string): Promise<RunRecord | undefined> => {
    const path = join(folder(id), recordFile);
    return readJsonFile(path, runRecordSchema, (cause) =>
      fatalError('RUN_UNREADABLE', `${path} is damaged or was written by another version of cqbatch.`, cause),
    );
  };

  const ids = async (): Promise<readonly string[]> => {
    const names = await readdir(runsDir).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter(isRunId).sort();
  };

  const list: RunStore['list'] = async (onUnreadable, but) => {
    const readable = (id: string): Promise<RunRecord | undefined> =>
      onUnreadable === undefined ? read(id) : read(id).catch((error) => void onUnreadable(error));
    const wanted = (await ids()).filter((id) => !but?.has(id));
    return inOrder((await Promise.all(wanted.map(readable))).filter((record) => record !== undefined));
  };

  /** A plan that was killed leaves a folder without a record, perhaps with a large copy of its manifest. */
  const removeAbandonedPlans = async (): Promise<void> => {
    for (const id of await ids()) {
      // In this order: whoever is alive may save the record now, and end.
      if (!(await isAbandoned(folder(id)))) continue;
      if ((await read(id).catch(() => true)) === undefined)
        await rm(folder(id), { recursive: true, force: true });
    }
  };

  return {
    operations,
    stateDir,
    folder,
    async create(wanted) {
      await makeFolder(runsDir);
      await removeAbandonedPlans();
      await onDisk(stateDir, () => removeAbandoned(stateDir));
      for (;;) {
        const id = wanted ?? newRunId();
        try {
          await mkdir(folder(id), { mode: 0o700 });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
            throw systemError(error, folder(id)) ?? error;
          if (wanted !== undefined) throw existingRun(id, stateDir, await read(id).catch(() => undefined));
          continue;
        }
        try {
          await onDisk(folder(id), () => ownFolder(folder(id)));
        } catch (error) {
          await rm(folder(id), { recursive: true, force: true });
          throw error;
        }
        return { id, folder: folder(id) };
      }
    },
    async look(id) {
      const record = await read(id);
      if (record !== undefined) return record;
      return (await exists(folder(id))) && !(await isAbandoned(folder(id))) ? 'being planned' : undefined;
    },
    async save(record) {
      await writeJsonFile(join(folder(record.id), recordFile), record);
      await keepFolder(folder(record.id));
    },
    async load(id) {
      const record = isRunId(id) ? await read(id) : undefined;
      if (record === undefined) throw unknownRun(id, stateDir);
      return record;
    },
    async find(name) {
      const records = await Promise.all(idsMeantBy(name, await ids()).map(read));
      const found = inOrder(records.filter((record) => record !== undefined));
      const [only] = found;
      if (only === undefined) throw unknownRun(name, stateDir);
      if (found.length > 1)
        throw ambiguousRun(
          name,
          found.map(({ id }) => id),
        );
      return only;
    },
    list,
    async discard(id) {
      await rm(folder(id), { recursive: true, force: true });
    },
  };
}

function unknownRun(name: string, stateDir: string): CqbatchError {
  return usageError(
    'RUN_UNKNOWN',
    `There is no run ${name} in ${stateDir}. "cqbatch list" shows those there are.`,
  );
}

/** @param record absent while somebody is planning it. */
function existingRun(id: string, stateDir: string, record: RunRecord | undefined): CqbatchError {
  if (record !== undefined && !isActive(actualState(record)))
    return usageError(
      'RUN_EXISTS',
      `There is a run ${id} in ${stateDir} already: "cqbatch status ${id}" tells how it is.`,
    );
  return new BusyError(
    'RUN_EXISTS',
    `There is a run ${id} in ${stateDir} already, which is ${record === undefined ? 'being planned' : actualState(record)}`,
    `"cqbatch status ${id}" tells how it is.`,
  );
}

const shownIds = 10;

/** @param ids the oldest first */
export function ambiguousRun(name: string, ids: readonly string[]): CqbatchError {
  const shown = ids.toReversed().slice(0, shownIds).join(', ');
  const more = ids.length > shownIds ? ` and ${ids.length - shownIds} more` : '';
  return usageError(
    'RUN_AMBIGUOUS',
    `"${name}" is a part of ${ids.length} run ids (${shown}${more}): write more of the one you mean.`,
  );
}

/** The oldest first. Ids sort by time unless the user chose them; of the same second, they are as good as any order. */
function inOrder(records: readonly RunRecord[]): readonly RunRecord[] {
  return records.toSorted((a, b) => compare(plannedAt(a), plannedAt(b)) || compare(a.id, b.id));
}

function plannedAt({ states }: RunRecord): string {
  return states[0]?.at ?? '';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
