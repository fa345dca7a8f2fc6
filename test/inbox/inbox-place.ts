import { createHash } from 'node:crypto';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestEnding } from '../../src/inbox/claimed-manifest.ts';
import { Inbox } from '../../src/inbox/inbox.ts';
import { finalFolders } from '../../src/inbox/records.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

export const done: ManifestEnding = { folder: 'done', ranOn: 'https://api.example' };

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export type InboxPlace = Awaited<ReturnType<typeof inboxPlace>>;

/** An inbox and a state folder. */
export async function inboxPlace() {
  const folder = await temporaryFolder();
  const inbox = join(folder, 'inbox');
  const stateDir = join(folder, 'state');
  await mkdir(inbox);
  /** Runs by id, with how often each was started. */
  const runs = new Map<string, number>();
  const hasRun = async (id: string): Promise<boolean> => runs.has(id);
  return {
    ...{ folder, inbox, stateDir, runs, hasRun },
    /** A file in the inbox that was complete this many seconds ago. */
    async drop(name: string | Buffer, text: string, secondsAgo = 60): Promise<void> {
      const path = Buffer.concat([Buffer.from(`${inbox}/`), Buffer.from(name)]);
      await writeFile(path, text);
      const at = new Date(Date.now() - secondsAgo * 1_000);
      await utimes(path, at, at);
    },
    open: (path = inbox, dir = stateDir): Promise<Inbox> =>
      Inbox.open({ path, stateDir: dir, settleMs: 60_000 }),
    /** Runs waiting manifests, as a watcher does, and returns their names in the order in which they started. */
    async work(watched: Inbox, ending: ManifestEnding = done): Promise<string[]> {
      const started: string[] = [];
      for (;;) {
        const { manifest } = await watched.next(hasRun);
        if (manifest === undefined) return started;
        const { run, name } = manifest.record;
        if (!runs.has(run)) {
          runs.set(run, 1);
          started.push(name);
        }
        await manifest.finish(ending);
      }
    },
    /** Paths of all visible files below the inbox. */
    async files(): Promise<string[]> {
      const found = await Promise.all(
        ['.', 'running', ...finalFolders].map(async (each) =>
          (await readdir(join(inbox, each), { withFileTypes: true }).catch(() => []))
            .filter((entry) => entry.isFile())
            .map(({ name }) => join(each, name)),
        ),
      );
      return found.flat().sort();
    },
  };
}
