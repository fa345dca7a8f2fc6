import { join } from 'node:path';
import type { ProcessLock } from '../../base/disk/lock.ts';
import { readFileParts } from '../../base/disk/open-file.ts';
import { shellWord } from '../../base/text/command-words.ts';
import type { ManifestOrigin } from '../../engine/run/plan/create-run.ts';
import type { CompleteCommands } from '../../engine/run/record/store.ts';
import { contentOf, inInbox, moveIfThere, putBack, writeBesideManifest } from './files.ts';
import type { FinalFolder, InboxRecords, TakenRecord } from './records.ts';

export interface ManifestEnding {
  readonly folder: FinalFolder;
  /** The text of `NAME.error.txt` beside the manifest; absent for done manifests. */
  readonly text?: string;
  /** Files to copy beside the manifest, by the suffix of their new names. */
  readonly files?: Readonly<Record<string, string>>;
  /** The API of the run; absent if the manifest did not run, so that users may put it into the inbox again. */
  readonly ranOn?: string;
}

export interface FinishedManifest {
  readonly path: string;
  /** The folder for a finished manifest: `partial` instead of `done` if a program added rows after the manifest was taken. */
  readonly folder: FinalFolder;
}

export type ClaimedManifest = ReturnType<typeof claimedManifest>;

interface Claim {
  readonly lock: ProcessLock;
  /** The most bytes of a manifest. */
  readonly mostBytes: number;
  readonly completed: CompleteCommands;
}

/** This process has the manifest alone until it is finished or released. */
export function claimedManifest(
  inbox: string,
  records: InboxRecords,
  record: TakenRecord,
  { lock, mostBytes, completed }: Claim,
) {
  const path = join(inbox, 'running', record.file);
  const givenPath = join(inbox, record.name);
  /** Without its run, the manifest would run again, so the run is kept until the manifest is archived. */
  const origin: ManifestOrigin = {
    name: givenPath,
    keepUntil: records.endedPath(record.sha256),
    sha256: record.sha256,
  };
  const release = (): Promise<void> => lock.release();
  /** Whether a program has written to the manifest since it was taken. */
  const hasChanged = async (): Promise<boolean> => {
    const content = await inInbox(inbox, 'running', (running) =>
      contentOf(running.file(record.file), mostBytes),
    );
    return content !== undefined && (content === 'too large' || content.sha256 !== record.sha256);
  };

  return {
    record,
    path,
    givenPath,
    origin,
    release,
    hasChanged,
    /**
     * Copies the files beside the manifest, then moves it to its final folder. Idempotent, because it is repeated after a kill.
     *
     * @returns undefined if a program still writes the manifest, and nothing of it was sent: it waits in the inbox again
     */
    async finish(ending: ManifestEnding): Promise<FinishedManifest | undefined> {
      const isChanged = await hasChanged();
      const { ranOn } = ending;
      if (isChanged && ranOn === undefined) {
        await putBack(inbox, record.file, record.name);
        await records.forget(record.sha256);
        await release();
        return undefined;
      }
      const {
        folder,
        text,
        files = {},
      } = isChanged ? withAddedRows(ending, inbox, record, completed) : ending;
      await inInbox(inbox, 'running', (running) =>
        inInbox(inbox, folder, async (final) => {
          const manifest = running.file(record.file);
          for (const [suffix, from] of Object.entries(files))
            await writeBesideManifest(manifest, final.file(`${record.file}${suffix}`), readFileParts(from));
          if (text !== undefined)
            await writeBesideManifest(manifest, final.file(`${record.file}.error.txt`), `${text}\n`);
          await moveIfThere(manifest, final.file(record.file));
        }),
      );
      if (ranOn === undefined) await records.forget(record.sha256);
      else {
        const endedAt = new Date().toISOString();
        await records.end({ ...record, ended_at: endedAt, folder, base_url: ranOn });
      }
      await release();
      return { path: join(inbox, folder, record.file), folder };
    },
  };
}

function withAddedRows(
  { folder, text, ...ending }: ManifestEnding,
  inbox: string,
  { name, file, run }: TakenRecord,
  completed: CompleteCommands,
): ManifestEnding {
  const final = folder === 'done' ? 'partial' : folder;
  const added =
    `${name} was changed after it was taken, so run ${run} has called the rows that it had before. To call only the other rows, type: ` +
    `cqbatch run ${shellWord(join(inbox, final, file))} --skip-done ${run}`;
  const { ranOn: baseUrl } = ending;
  const typed = completed(added, baseUrl === undefined ? undefined : { baseUrl, lacksOperations: false });
  return { ...ending, folder: final, text: text === undefined ? typed : `${text}\n\n${typed}` };
}
