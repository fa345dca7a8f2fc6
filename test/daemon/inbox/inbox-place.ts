import { createHash } from 'node:crypto';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestEnding } from '../../../src/daemon/inbox/claimed-manifest.ts';
import { Inbox } from '../../../src/daemon/inbox/inbox.ts';
import { finalFolders } from '../../../src/daemon/inbox/records.ts';
import type { WaitingOptions } from '../../../src/daemon/inbox/waiting-files.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

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
  const look = async (id: string) => (runs.has(id) ? 'being planned' : undefined);
  return {
    folder,
    inbox,
    stateDir,
    runs,
    /** A file in the inbox that was written this many seconds ago, as its times say. */
    async drop(name: string | Buffer, text: string, secondsAgo = 60): Promise<void> {
      const path = Buffer.concat([Buffer.from(`${inbox}/`), Buffer.from(name)]);
      await writeFile(path, text);
      const at = new Date(Date.now() - secondsAgo * 1_000);
      await utimes(path, at, at);
    },
    open: (path = inbox, dir = stateDir, options: WaitingOptions = {}): Promise<Inbox> =>
      Inbox.open({ path, store: { stateDir: dir, look, completed: (text) => text }, ...options }),
    /** Takes the next manifest and keeps it, as a process that hangs. @returns also the files met before */
    async next(watched: Inbox) {
      const others: object[] = [];
      const files = watched.take();
      for (;;) {
        const { value } = await files.next();
        if (value === undefined) return { others };
        if (value.taking.kind === 'taken') return { manifest: value.taking.manifest, others };
        others.push(value);
      }
    },
    /** Runs waiting manifests, as a watcher does, and returns their names in the order in which they started. */
    async work(watched: Inbox, ending: ManifestEnding = done): Promise<string[]> {
      const started: string[] = [];
      for await (const { name, taking } of watched.take()) {
        if (taking.kind !== 'taken') continue;
        const { run } = taking.manifest.record;
        if (!runs.has(run)) {
          runs.set(run, 1);
          started.push(name);
        }
        await taking.manifest.finish(ending);
      }
      return started;
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
