import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { untilAborted } from '../../../src/base/async/waiting.ts';
import { built } from '../../helpers/built.ts';
import { describeWithSmallDisk, smallDisk } from '../../helpers/small-disk.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const { openEmbedded } = await built<typeof import('../../../src/engine/datastore/embedded/embedded.ts')>(
  'engine/datastore/embedded/embedded',
);

interface Pool {
  query(text: string, params?: readonly unknown[]): Promise<{ rows: readonly Record<string, unknown>[] }>;
}

describe('the embedded datastore', () => {
  test('creates no database among other files', async () => {
    const stateDir = await temporaryFolder();
    await mkdir(join(stateDir, 'queue', 'base'), { recursive: true });
    await expect(openEmbedded({ stateDir, purpose: 'first' })).rejects.toThrow(
      'PG_VERSION is missing. Move the folder away, then type "cqbatch resume"',
    );
  });
});

describe('an epoch of the embedded datastore', () => {
  interface Opened {
    readonly name: string | undefined;
    /** Whether it still contains what `visit` left in it. */
    readonly kept: boolean;
  }

  /** Opens the datastore, leaves something in it, and closes it properly. */
  async function visit(
    stateDir: string,
    whileOpen: () => Promise<unknown> = async () => {},
  ): Promise<Opened> {
    const datastore = await openEmbedded({ stateDir, purpose: 'visit' });
    try {
      const pool = datastore.connection as Pool;
      const { rows } = await pool.query("SELECT to_regclass('bullmq.left_there') IS NOT NULL AS there");
      await pool.query('CREATE TABLE IF NOT EXISTS bullmq.left_there ()');
      await whileOpen();
      return { name: await datastore.epoch(), kept: rows[0]?.['there'] === true };
    } finally {
      await datastore.close();
    }
  }

  test('stays the same when the whole state folder is moved, and changes when it is renewed', async () => {
    const stateDir = await temporaryFolder();
    const { name } = await visit(stateDir);
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    const moved = join(await temporaryFolder(), 'moved');
    await cp(stateDir, moved, { recursive: true });
    const datastore = await openEmbedded({ stateDir: moved, purpose: 'renew' });
    expect(await datastore.epoch()).toBe(name);
    await datastore.renew();
    const renewed = await datastore.epoch();
    await datastore.maintain();
    await datastore.close();
    await datastore.close();
    expect(renewed).not.toBe(name);
    expect(await visit(moved)).toEqual({ name: renewed, kept: true });
  });

  test('is a new one, and empty, when the datastore is not the one used last', async () => {
    const stateDir = await temporaryFolder();
    const queue = join(stateDir, 'queue');
    const copy = join(stateDir, 'copy');
    const names = [(await visit(stateDir, () => cp(queue, copy, { recursive: true }))).name];
    const changes = {
      'it was overwritten by a copy that was made while it was open': () =>
        cp(copy, queue, { recursive: true }),
      'the system was started since': async () => {
        const file = `${queue}.epoch.json`;
        const record = JSON.parse(await readFile(file, 'utf8')) as object;
        await writeFile(file, JSON.stringify({ ...record, boot: 'the one before' }));
      },
      'it was moved away': () => rename(queue, `${queue}.away`),
      'it came back': async () => {
        await rm(queue, { recursive: true });
        await rename(`${queue}.away`, queue);
      },
    };
    for (const [what, change] of Object.entries(changes)) {
      await change();
      const { name, kept } = await visit(stateDir);
      expect(names, what).not.toContain(name);
      expect(kept, what).toBe(false);
      names.push(name);
    }
  });
});

describeWithSmallDisk('the embedded datastore on a full disk', () => {
  // The log then runs full in the middle of a statement, where PostgreSQL would end its process.
  test.each([600_000, 800_000, 1_000_000, 1_200_000, 1_400_000, 1_600_000])(
    'ends a statement that writes more than the %d bytes left',
    async (leave) => {
      const disk = smallDisk(100);
      const datastore = await openEmbedded({ stateDir: disk.folder, purpose: 'first' });
      const pool = datastore.connection as Pool;
      await pool.query('CREATE TABLE filled (text text)');
      disk.fill(leave);
      await expect(
        pool.query('INSERT INTO filled SELECT $1 FROM generate_series(1, 1500)', ['x'.repeat(1_000)]),
      ).rejects.toMatchObject({ code: 'DISK_FULL' });
      await datastore.close();
    },
  );

  test.each([
    ['a table cannot grow', 200_000],
    // PostgreSQL's log grows by 16 MB at a time. After that it would take statements and never answer.
    ['the log cannot grow', 12_000_000],
  ])('is lost at once, and intact when there is space again: %s', async (_, leave) => {
    const disk = smallDisk(100);
    const datastore = await openEmbedded({ stateDir: disk.folder, purpose: 'first' });
    const pool = datastore.connection as Pool;
    await pool.query('CREATE TABLE filled (id serial PRIMARY KEY, text text)');
    disk.fill(leave);
    let stored = 0;
    const store = async (): Promise<void> => {
      for (;;) {
        await pool.query('INSERT INTO filled (text) VALUES ($1)', [randomBytes(50_000).toString('hex')]);
        stored += 1;
      }
    };
    const sentence = /^the disk of \S+queue is full: free some space, then try again\.$/;
    await expect(store()).rejects.toThrow(sentence);
    await untilAborted(datastore.lost);
    expect(datastore.lost.reason).toMatchObject({ code: 'DISK_FULL', kind: 'fatal' });
    await expect(pool.query('SELECT 1')).rejects.toThrow(sentence);
    // Code that tries again at once, without end, leaves time to others.
    const others = new AbortController();
    setTimeout(() => others.abort(), 0);
    while (!others.signal.aborted) await pool.query('SELECT 1').catch(() => {});
    await datastore.close();

    disk.free();
    const again = await openEmbedded({ stateDir: disk.folder, purpose: 'second' });
    const { rows } = await (again.connection as Pool).query('SELECT count(*)::int FROM filled');
    expect(rows).toEqual([{ count: stored }]);
    await again.close();
  });
});
