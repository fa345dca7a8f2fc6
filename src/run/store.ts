import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fatalError, usageError } from '../errors.ts';
import { makeFolder, writeFileAtomically } from '../files.ts';
import { isAbandoned, keepFolder, ownFolder } from '../owned-folder.ts';
import { onDisk, systemError } from '../system-error.ts';
import { isRunId, newRunId, type RunRecord, runRecordSchema } from './record.ts';

/** The runs of a state folder: one folder each, see DESIGN of the files in docs/architecture.md. */
export interface RunStore {
  readonly stateDir: string;
  folder(id: string): string;
  /**
   * Makes the folder of a new run; nothing else sees it until its record is saved.
   *
   * @param wanted the id that the user chose, if so.
   * @throws a usage error `RUN_EXISTS` when there is a run of that id, or somebody is planning one.
   */
  create(wanted?: string): Promise<{ readonly id: string; readonly folder: string }>;
  /** Whether there is a run of that id, or somebody is planning one. */
  exists(id: string): Promise<boolean>;
  /** Replaces the record, whole or not at all. */
  save(record: RunRecord): Promise<void>;
  /**
   * The run of that id, or the newest.
   *
   * @throws a usage error `RUN_UNKNOWN` when there is none.
   */
  load(id?: string): Promise<RunRecord>;
  /**
   * All runs, oldest first. Folders without a record (a plan that was declined or died) are left out.
   *
   * @param onUnreadable takes the error of a damaged record, and the others are listed; without it, it is thrown.
   */
  list(onUnreadable?: (error: Error) => void): Promise<readonly RunRecord[]>;
  /** Removes a run that has never been started. */
  discard(id: string): Promise<void>;
}

const recordFile = 'run.json';

export function openRunStore(stateDir: string): RunStore {
  const runsDir = join(stateDir, 'runs');
  const folder = (id: string): string => join(runsDir, id);

  const read = async (id: string): Promise<RunRecord | undefined> => {
    const path = join(folder(id), recordFile);
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw (
        systemError(error, path) ??
        fatalError('RUN_UNREADABLE', `Can't read ${path}: ${(error as Error).message}`, error)
      );
    }
    try {
      return runRecordSchema.parse(JSON.parse(text));
    } catch (error) {
      throw fatalError(
        'RUN_UNREADABLE',
        `${path} is damaged or was written by another version of cqbatch.`,
        error,
      );
    }
  };

  const ids = async (): Promise<readonly string[]> => {
    const names = await readdir(runsDir).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter(isRunId).sort();
  };

  const list = async (onUnreadable?: (error: Error) => void): Promise<readonly RunRecord[]> => {
    const readable = (id: string): Promise<RunRecord | undefined> =>
      onUnreadable === undefined ? read(id) : read(id).catch((error) => void onUnreadable(error));
    const records = (await Promise.all((await ids()).map(readable))).filter((record) => record !== undefined);
    // Ids sort by time unless the user chose them; of the same second, they are as good as any order.
    return records.sort((a, b) => compare(plannedAt(a), plannedAt(b)) || compare(a.id, b.id));
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
    stateDir,
    folder,
    async create(wanted) {
      await makeFolder(runsDir);
      await removeAbandonedPlans();
      for (;;) {
        const id = wanted ?? newRunId();
        try {
          await mkdir(folder(id), { mode: 0o700 });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
            throw systemError(error, folder(id)) ?? error;
          if (wanted !== undefined)
            throw usageError(
              'RUN_EXISTS',
              `There is a run ${id} in ${stateDir} already: "cqbatch status ${id}" tells how it is.`,
            );
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
    exists: (id) =>
      stat(folder(id)).then(
        () => true,
        () => false,
      ),
    async save(record) {
      await writeFileAtomically(join(folder(record.id), recordFile), `${JSON.stringify(record, null, 2)}\n`);
      await keepFolder(folder(record.id));
    },
    async load(id) {
      if (id !== undefined) {
        const record = isRunId(id) ? await read(id) : undefined;
        if (record === undefined) {
          throw usageError(
            'RUN_UNKNOWN',
            `There is no run ${id} in ${stateDir}. "cqbatch list" shows those there are.`,
          );
        }
        return record;
      }
      const newest = (await list()).at(-1);
      if (newest !== undefined) return newest;
      throw usageError(
        'RUN_UNKNOWN',
        `There is no run in ${stateDir} yet. Start one with "cqbatch run <manifest>".`,
      );
    },
    list,
    async discard(id) {
      await rm(folder(id), { recursive: true, force: true });
    },
  };
}

function plannedAt({ states }: RunRecord): string {
  return states[0]?.at ?? '';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
