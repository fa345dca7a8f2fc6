import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { turnsByKey } from '../../../base/async/waiting.ts';
import { createFile, ifThere, makeFolder } from '../../../base/disk/files.ts';
import { readJsonFile, writeJsonFile } from '../../../base/disk/json-file.ts';
import { lockPath } from '../../../base/disk/lock.ts';
import { isLocked } from '../../../base/disk/lock-holder.ts';
import { isAbandoned, keepFolder, ownFolder } from '../../../base/disk/owned-folder.ts';
import { BusyError, type CqbatchError, fatalError, usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { thisActor } from '../../../domain/actor.ts';
import { type Draft, type DraftSource, draftName, mostUploadBytes } from './draft.ts';
import { draftSchema } from './draft-schema.ts';
import type { PlanOutput } from './page-commands.ts';

/** How long a draft is kept, so that a page can still say what became of it. */
const keptMs = 7 * 24 * 60 * 60 * 1_000;

const draftIds = /^[a-z0-9]{16}$/;

export type DraftStore = ReturnType<typeof openDraftStore>;

/** The drafts of a state folder, each in a folder of its own: `draft.json`, the manifest, the plan and its page. */
export function openDraftStore(stateDir: string) {
  const all = join(stateDir, 'drafts');
  const folder = (id: string): string => {
    if (draftIds.test(id)) return join(all, id);
    throw unknownDraft();
  };
  const recordPath = (id: string): string => join(folder(id), 'draft.json');
  const lockedPath = (id: string): string => join(folder(id), 'draft');
  const manifestPath = (id: string): string => join(folder(id), 'manifest');

  const look = (id: string): Promise<Draft | undefined> =>
    readJsonFile(recordPath(id), draftSchema, (cause) =>
      fatalError('DRAFT_UNREADABLE', `${recordPath(id)} is damaged: remove its folder.`, cause),
    );
  const load = async (id: string): Promise<Draft> => {
    const found = await look(id);
    if (found === undefined) throw unknownDraft();
    return found;
  };
  const save = async (draft: Draft): Promise<Draft> => {
    await writeJsonFile(recordPath(draft.id), draft);
    return draft;
  };
  const ids = async (): Promise<readonly string[]> =>
    ((await ifThere(readdir(all))) ?? []).filter((name) => draftIds.test(name));
  const discard = (id: string): Promise<void> =>
    onDisk(folder(id), () => rm(folder(id), { recursive: true, force: true }));

  /** Makes a draft in a folder of its own. Leaves nothing if that fails. */
  const begin = async (take: (id: string) => Promise<DraftSource>): Promise<Draft> => {
    const id = randomBytes(8).toString('hex');
    await makeFolder(all);
    try {
      await makeFolder(folder(id));
      // If the process is killed before there is a draft, the folder has a dead owner, and is removed later.
      await onDisk(folder(id), () => ownFolder(folder(id)));
      const source = await take(id);
      const madeAt = new Date().toISOString();
      const draft = await save({ version: 1, id, madeAt, madeBy: thisActor(), source, choices: {} });
      await onDisk(folder(id), () => keepFolder(folder(id)));
      return draft;
    } catch (error) {
      await discard(id);
      throw error;
    }
  };

  const inTurn = turnsByKey();

  return {
    manifestPath,
    /**
     * Takes a manifest, byte for byte.
     *
     * @throws a usage error `MANIFEST_TOO_LARGE`, or that of the connection; then nothing is kept
     */
    receive(name: string, content: AsyncIterable<Buffer>): Promise<Draft> {
      const hash = createHash('sha256');
      let bytes = 0;
      const counted = async function* () {
        for await (const part of content) {
          bytes += part.length;
          if (bytes > mostUploadBytes) throw tooLarge();
          hash.update(part);
          yield part;
        }
      };
      return begin(async (id) => {
        await onDisk(manifestPath(id), () => createFile(manifestPath(id), counted()));
        return { kind: 'file', name, sha256: hash.digest('hex'), bytes };
      });
    },
    /** Begins a draft for the rows of a run. */
    ofRun(kind: 'retry' | 'undo', run: string): Promise<Draft> {
      return begin(async () => ({ kind, run }));
    },
    /** @throws a usage error `DRAFT_UNKNOWN` */
    load,
    /**
     * Works on a draft while no other request does, nor another dashboard of the state folder.
     *
     * @throws a usage error `DRAFT_UNKNOWN`, a busy error `DRAFT_LOCKED`
     */
    alone<Result>(id: string, work: (draft: Draft) => Promise<Result>): Promise<Result> {
      return inTurn(id, async () => {
        // Without a draft, there is no folder for the lock.
        await load(id);
        const lock = await lockPath({ path: lockedPath(id), purpose: 'dashboard', taken: lockedBy });
        try {
          return await work(await load(id));
        } finally {
          await lock.release();
        }
      });
    },
    save,
    /** Newest first. Damaged drafts, and those that are being received, are left out. */
    async list(): Promise<readonly Draft[]> {
      const found = await Promise.all((await ids()).map((id) => look(id).catch(() => undefined)));
      return found
        .filter((draft) => draft !== undefined)
        .toSorted((one, other) => other.madeAt.localeCompare(one.madeAt));
    },
    /**
     * Removes a draft with everything that it has, and needs no space for that on a full disk.
     *
     * @throws a usage error `DRAFT_UNKNOWN`, a busy error `DRAFT_LOCKED`
     */
    remove(id: string): Promise<void> {
      return inTurn(id, async () => {
        await load(id);
        if (await isLocked(lockedPath(id))) throw lockedBy('another dashboard');
        await discard(id);
      });
    },
    /** Notes the run that was started, and removes the bytes, of which the run has its own copy. */
    async settle(draft: Draft, run: string): Promise<Draft> {
      const { planned: _, refusal: __, ...rest } = draft;
      const settled = await save({ ...rest, run });
      const { plan, page } = this.output(draft);
      for (const path of [manifestPath(draft.id), plan, page])
        await onDisk(path, () => rm(path, { force: true }));
      return settled;
    },
    /** Removes drafts of earlier weeks, and files that a process received when it was killed. */
    async removeOld(now = Date.now()): Promise<void> {
      for (const { id, madeAt } of await this.list())
        if (now - Date.parse(madeAt) > keptMs) await discard(id);
      for (const id of await ids()) {
        // Check the owner before the record: a living owner may save the record in between.
        if (!(await isAbandoned(folder(id)))) continue;
        if ((await look(id).catch(() => true)) === undefined) await discard(id);
      }
    },
    /** The plan is named after the manifest, because the run is named after the plan. */
    output(draft: Draft): PlanOutput {
      const place = folder(draft.id);
      const name = draftName(draft)
        .replace(/\.[^.]*$/, '')
        .replaceAll(/[^\w-]+/g, '-')
        .slice(0, 40);
      return { plan: join(place, `${name}.cqplan`), page: join(place, 'plan.html') };
    },
  };
}

function unknownDraft(): CqbatchError {
  return usageError(
    'DRAFT_UNKNOWN',
    'This draft is gone: it was removed, or is older than a week. Choose the file again.',
  );
}

function lockedBy(who: string): CqbatchError {
  return new BusyError('DRAFT_LOCKED', `This draft is in use by ${who}`, 'Wait a moment, then try again.');
}

function tooLarge(): CqbatchError {
  return usageError(
    'MANIFEST_TOO_LARGE',
    `The file is larger than ${mostUploadBytes / 1_000_000} MB, the most that a page takes: type "cqbatch plan FILE" in a terminal.`,
  );
}
