import { execFileSync } from 'node:child_process';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { fatalError } from '../../../src/base/errors/errors.ts';
import { Inbox } from '../../../src/daemon/inbox/inbox.ts';
import { type InboxRecords, openInboxRecords, type TakenRecord } from '../../../src/daemon/inbox/records.ts';
import { stateId } from '../../../src/engine/run/record/state-folder.ts';
import { describeOnPosix } from '../../helpers/describe-with-program.ts';
import { digest, done, type InboxPlace, inboxPlace } from './inbox-place.ts';

let folder: string;
let inbox: string;
let stateDir: string;
let runs: InboxPlace['runs'];
let drop: InboxPlace['drop'];
let open: InboxPlace['open'];
let next: InboxPlace['next'];
let work: InboxPlace['work'];
let files: InboxPlace['files'];

beforeEach(async () => {
  ({ folder, inbox, stateDir, runs, drop, open, next, work, files } = await inboxPlace());
});

test('manifests are taken oldest first and end in their folder under a unique name', async () => {
  await drop('b.csv', 'b', 100);
  await drop('a 🎧.csv', 'a', 50);
  await drop('c.csv.gz', 'c', 200);
  expect(await work(await open())).toEqual(['c.csv.gz', 'b.csv', 'a 🎧.csv']);
  expect(await files()).toEqual([
    `done/a 🎧.${digest('a').slice(0, 8)}.csv`,
    `done/b.${digest('b').slice(0, 8)}.csv`,
    `done/c.${digest('c').slice(0, 8)}.csv.gz`,
  ]);
  expect([...runs.keys()].sort()).toEqual(
    ['a', 'b', 'c-csv'].map((name) => `${name}-${digest(name[0] ?? '').slice(0, 8)}`),
  );
});

test('a file that is being written is left alone, and so are folders, links and hidden files', async () => {
  await drop('growing.csv', 'x', -60);
  await writeFile(join(inbox, 'later.csv.part'), 'x');
  await drop('.hidden.csv', 'x');
  await drop('notes.md', 'x');
  await mkdir(join(inbox, 'folder.csv'));
  await symlink(join(inbox, '.hidden.csv'), join(inbox, 'link.csv'));
  const watched = await open(inbox, stateDir, { settleMs: 60_000 });
  expect(await next(watched)).toEqual({ others: [{ name: 'growing.csv', taking: { kind: 'growing' } }] });
  expect((await watched.ignoredFiles()).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { name: 'link.csv', why: 'it is a symbolic link' },
    { name: 'notes.md', why: 'manifests are called *.{csv,txt,tsv,tab,xlsx,json,jsonl,ndjson}{,.gz}' },
  ]);
});

test.each(['done', 'failed', 'running', '.cqbatch-inbox'])(
  'a link called %s is not followed',
  async (name) => {
    const elsewhere = join(folder, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, join(inbox, name));
    await drop('a.csv', 'a', 100);
    await expect(open().then(work)).rejects.toMatchObject({
      code: 'INBOX_UNUSABLE',
      message: expect.stringContaining(`${name} is a symbolic link`),
    });
    expect(await readdir(elsewhere)).toEqual([]);
  },
);

test('an inbox that is a link to a folder is watched as that folder', async () => {
  const link = join(folder, 'link');
  await symlink(inbox, link);
  await drop('a.csv', 'a', 100);
  expect(await work(await open(link))).toEqual(['a.csv']);
});

test('a link that is put in place of a folder while the inbox is watched is not followed', async () => {
  const watched = await open();
  await rm(join(inbox, 'done'), { recursive: true });
  await symlink(folder, join(inbox, 'done'));
  await drop('a.csv', 'a', 100);
  await expect(work(watched)).rejects.toMatchObject({ code: 'INBOX_UNUSABLE' });
});

test('a file that is written again while an earlier one runs is left to the next look', async () => {
  await drop('a.csv', 'x', 100);
  await drop('b.csv', 'y', 50);
  const watched = await open();
  const met: object[] = [];
  for await (const { name, taking } of watched.take()) {
    met.push({ name, kind: taking.kind });
    if (taking.kind !== 'taken') continue;
    await writeFile(join(inbox, 'b.csv'), 'half of z');
    await taking.manifest.finish(done);
  }
  expect(met).toEqual([
    { name: 'a.csv', kind: 'taken' },
    { name: 'b.csv', kind: 'gone' },
  ]);
  expect((await next(watched)).manifest?.record.sha256).toBe(digest('half of z'));
});

test('a content is run once, whatever its name, and copies are put beside the first', async () => {
  await drop('a.csv', 'same', 100);
  await drop('copy.csv', 'same', 50);
  const watched = await open();
  expect(await work(watched, { ...done, folder: 'partial', text: 'why' })).toEqual(['a.csv']);
  await drop('a.csv', 'same');
  expect(await work(await open())).toEqual([]);
  const unique = digest('same').slice(0, 8);
  expect(await files()).toEqual([
    `partial/a.${unique}.csv`,
    `partial/a.${unique}.csv.copy.txt`,
    `partial/a.${unique}.csv.error.txt`,
    `partial/copy.${unique}.csv`,
    `partial/copy.${unique}.csv.copy.txt`,
  ]);
  expect(await readFile(join(inbox, 'partial', `copy.${unique}.csv.copy.txt`), 'utf8')).toContain(
    `copy.csv has the same content as a.csv, which was run as a-${unique} on https://api.example`,
  );
});

test('a file with a known name and new content is a new manifest', async () => {
  const watched = await open();
  await drop('nightly.csv', 'monday');
  expect(await work(watched)).toEqual(['nightly.csv']);
  await drop('nightly.csv', 'tuesday');
  expect(await work(watched)).toEqual(['nightly.csv']);
  expect(await files()).toHaveLength(2);
});

test('a manifest that was not run may be put in again', async () => {
  await drop('a.csv', 'x');
  const watched = await open();
  expect(await work(watched, { folder: 'failed', text: 'line 2: no' })).toEqual(['a.csv']);
  runs.clear();
  await drop('a.csv', 'x');
  expect(await work(watched)).toEqual(['a.csv']);
});

test('files of a manifest are put beside it, readable by the users who may read it', async () => {
  await drop('a.csv', 'x');
  const rows = join(folder, 'failed.csv');
  await writeFile(rows, 'rows', { mode: 0o600 });
  await work(await open(), {
    folder: 'partial',
    text: 'why',
    files: { '.failed.csv': rows },
    ranOn: 'https://a',
  });
  const path = join(inbox, 'partial', `a.${digest('x').slice(0, 8)}.csv`);
  expect(await readFile(`${path}.error.txt`, 'utf8')).toBe('why\n');
  expect(await readFile(`${path}.failed.csv`, 'utf8')).toBe('rows');
  for (const suffix of ['.failed.csv', '.error.txt'])
    expect((await stat(path + suffix)).mode & 0o777).toBe((await stat(path)).mode & 0o777);
});

test('two watchers never have the same content at the same time', async () => {
  await drop('a.csv', 'x');
  await drop('b.csv', 'x');
  await drop('c.csv', 'y');
  const [one, other] = [await open(), await open(inbox, join(folder, 'other'))];
  const first = (await next(one)).manifest;
  const second = (await next(other)).manifest;
  expect([first?.record.name, second?.record.name]).toEqual(['a.csv', 'c.csv']);
  expect((await next(other)).others).toMatchObject([{ name: 'b.csv', taking: { kind: 'elsewhere' } }]);
  await first?.finish(done);
  await second?.finish(done);
  expect((await next(other)).others).toMatchObject([{ name: 'b.csv', taking: { kind: 'copy' } }]);
});

test('a run that one state folder has started is not resumed by another', async () => {
  await drop('a.csv', 'x');
  await (await next(await open())).manifest?.release();
  await drop('copy.csv', 'x');
  const other = await open(inbox, join(folder, 'other'));
  const { manifest, others } = await next(other);
  expect(manifest).toBeUndefined();
  expect(others).toMatchObject([{ name: 'copy.csv', taking: { kind: 'elsewhere' } }]);
  expect(await work(await open())).toEqual(['a.csv']);
});

test.each(['/nowhere', '/nowhere/*.csv'])(
  '%s cannot be watched where that folder is missing',
  async (path) => {
    const message = expect.stringContaining("The folder /nowhere doesn't exist: create it first");
    await expect(open(path)).rejects.toMatchObject({ code: 'INBOX_UNUSABLE', message });
  },
);

test('a damaged record is no reason to run its manifest again', async () => {
  await drop('a.csv', 'x');
  await work(await open());
  await writeFile(join(inbox, '.cqbatch-inbox', 'ended', `${digest('x')}.json`), '{"version":1}');
  await drop('a.csv', 'x');
  await expect(next(await open())).rejects.toMatchObject({ code: 'INBOX_RECORD_DAMAGED' });
});

describe('a watcher that was killed', () => {
  const unique = `a.${digest('x').slice(0, 8)}.csv`;
  const run = `a-${digest('x').slice(0, 8)}`;

  async function record(): Promise<TakenRecord> {
    return {
      version: 1,
      name: 'a.csv',
      file: unique,
      sha256: digest('x'),
      run,
      state_id: await stateId(stateDir),
      user: 'u',
      host: 'h',
      taken_at: new Date().toISOString(),
    };
  }

  /** The steps that it had completed. */
  const steps: readonly (readonly [what: string, step: (records: InboxRecords) => Promise<unknown>])[] = [
    ['had recorded that it takes a file', async (records) => records.take(await record())],
    ['had taken the file out', () => rename(join(inbox, 'a.csv'), join(inbox, 'running', unique))],
    ['had started its run', async () => runs.set(run, 1)],
    ['had put half a file beside it', () => writeFile(join(inbox, 'done', `${unique}.error.txt`), 'half')],
    ['had moved it to its folder', () => rename(join(inbox, 'running', unique), join(inbox, 'done', unique))],
    [
      'had recorded its end',
      async (records) => {
        const ended = { ended_at: 'then', folder: 'done', base_url: 'https://api.example' } as const;
        await records.end({ ...(await record()), ...ended });
        await records.take(await record());
      },
    ],
  ];

  test.each(steps.map(([what], index) => [what, index + 1] as const))(
    'when it %s leaves nothing undone and nothing is done twice',
    async (_what, count) => {
      await open();
      await drop('a.csv', 'x');
      const records = await openInboxRecords(inbox);
      for (const [, step] of steps.slice(0, count)) await step(records);
      const wasBegun = runs.has(run);
      expect(await work(await open())).toEqual(wasBegun ? [] : ['a.csv']);
      expect(await files()).toContain(join('done', unique));
      expect((await files()).filter((path) => path.endsWith('.csv'))).toHaveLength(1);
      expect(await records.unfinished()).toEqual([]);
      // Neither later nor under another name.
      await drop('copy.csv', 'x');
      expect(await work(await open())).toEqual([]);
    },
  );

  test('when it had refused a manifest and moved it does not run it', async () => {
    const records = await openInboxRecords(inbox);
    await open();
    await records.take(await record());
    await writeFile(join(inbox, 'failed', unique), 'x');
    expect(await work(await open())).toEqual([]);
    expect(await records.unfinished()).toEqual([]);
  });

  test('and whose manifest was put back from running/ resumes its run', async () => {
    await drop('a.csv', 'x');
    const { manifest } = await next(await open());
    runs.set(run, 1);
    await manifest?.release();
    await rename(join(inbox, 'running', unique), join(inbox, 'a.csv'));
    expect(await work(await open())).toEqual([]);
    // When it is found, its run has ended.
    expect(await files()).toEqual([join('done', unique), join('done', `${unique}.copy.txt`)]);
  });

  test('and whose manifest was removed meanwhile finishes its run', async () => {
    await drop('a.csv', 'x');
    const { manifest } = await next(await open());
    runs.set(run, 1);
    await manifest?.release();
    await rm(join(inbox, 'running', unique));
    expect(await work(await open())).toEqual([]);
    await expect((await openInboxRecords(inbox)).ended(digest('x'))).resolves.toMatchObject({ run });
  });

  test('and whose manifest was changed in running/ runs it with its new content', async () => {
    await drop('a.csv', 'x');
    await (await next(await open())).manifest?.release();
    await writeFile(join(inbox, 'running', unique), 'y');
    const at = new Date(Date.now() - 100_000);
    await utimes(join(inbox, 'running', unique), at, at);
    expect(await work(await open())).toEqual(['a.csv']);
    expect([...runs.keys()]).toEqual([`a-${digest('y').slice(0, 8)}`]);
  });
});

describe('a manifest that a program still writes after it was taken', () => {
  const unique = `a.${digest('half').slice(0, 8)}.csv`;

  async function taken() {
    await drop('a.csv', 'half');
    const watched = await open();
    const { manifest } = await next(watched);
    if (manifest === undefined) throw new Error('not taken');
    expect(await manifest.hasChanged()).toBe(false);
    await appendFile(join(inbox, 'running', unique), ' and the rest');
    expect(await manifest.hasChanged()).toBe(true);
    return { watched, manifest };
  }

  test('waits in the inbox again if nothing of it was sent, and runs whole', async () => {
    const { watched, manifest } = await taken();
    expect(await manifest.finish({ folder: 'failed', text: 'the file is cut off' })).toBeUndefined();
    expect(await files()).toEqual(['a.csv']);
    expect((await next(watched)).manifest?.record.sha256).toBe(digest('half and the rest'));
  });

  test('is not done when a part of it was sent, and says how to run the rest', async () => {
    const { manifest } = await taken();
    expect(await manifest.finish(done)).toEqual({
      folder: 'partial',
      path: join(inbox, 'partial', unique),
    });
    expect(await files()).toEqual([join('partial', unique), join('partial', `${unique}.error.txt`)]);
    expect(await readFile(join(inbox, 'partial', `${unique}.error.txt`), 'utf8')).toContain(
      `cqbatch run ${join(inbox, 'partial', unique)} --skip-done ${manifest.record.run}`,
    );
  });
});

test('a run whose record is damaged keeps its manifest, and the next one is taken', async () => {
  await drop('a.csv', 'x');
  await (await next(await open())).manifest?.release();
  await drop('b.csv', 'y');
  const look = () => Promise.reject(fatalError('RUN_UNREADABLE', 'run.json is damaged'));
  const { others, manifest } = await next(
    await Inbox.open({ path: inbox, store: { stateDir, look, completed: (text) => text } }),
  );
  expect(others).toEqual([{ name: 'a.csv', taking: { kind: 'unusable', why: 'run.json is damaged' } }]);
  expect(manifest?.record.name).toBe('b.csv');
});

test('a file that is too large is refused before it is read, and the next one is taken', async () => {
  await drop('sparse.csv', '', 100);
  await truncate(join(inbox, 'sparse.csv'), 12e12);
  await utimes(join(inbox, 'sparse.csv'), 0, 0);
  await drop('b.csv', 'y', 50);
  const watched = await open(inbox, stateDir, { mostBytes: 4e9 });
  const { others, manifest } = await next(watched);
  const refused = { kind: 'refused', path: expect.stringMatching(/failed\/sparse\.[0-9a-f]{8}\.csv$/) };
  expect(others).toMatchObject([{ name: 'sparse.csv', taking: refused }]);
  expect(manifest?.record.name).toBe('b.csv');
  const [, note = ''] = await files();
  expect(await readFile(join(inbox, note), 'utf8')).toContain('larger than max_manifest_size (4 GB)');
});

describeOnPosix('a pipe', () => {
  test('in an inbox is ignored, and in place of a taken manifest is not waited for', async () => {
    execFileSync('mkfifo', [join(inbox, 'pipe.csv')]);
    await drop('a.csv', 'x');
    const watched = await open();
    expect(await watched.ignoredFiles()).toEqual([{ name: 'pipe.csv', why: 'it is a pipe' }]);
    const { manifest } = await next(watched);
    const path = manifest?.path ?? '';
    await manifest?.release();
    await rm(path);
    execFileSync('mkfifo', [path]);
    expect((await next(watched)).manifest).toBeUndefined();
  });
});
