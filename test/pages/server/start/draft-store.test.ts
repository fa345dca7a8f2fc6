import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { thisProcess } from '../../../../src/base/disk/process.ts';
import { type Draft, draftName } from '../../../../src/pages/server/start/draft.ts';
import { openDraftStore } from '../../../../src/pages/server/start/draft-store.ts';
import { describeWithSmallDisk, smallDisk } from '../../../helpers/small-disk.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { planned } from './started-dashboard.ts';

async function* parts(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

async function place() {
  const stateDir = await temporaryFolder();
  return { stateDir, drafts: openDraftStore(stateDir), folder: (id: string) => join(stateDir, 'drafts', id) };
}

describeWithSmallDisk('on a full disk', () => {
  test('a draft that can not begin leaves nothing, and one that is there can be removed', async () => {
    const disk = smallDisk(2);
    const drafts = openDraftStore(disk.folder);
    const { id } = await drafts.receive('a.csv', parts('x'));
    disk.fill();
    await expect(drafts.receive('b.csv', parts('x'))).rejects.toThrow('is full');
    await expect(drafts.ofRun('retry', 'r')).rejects.toThrow('is full');
    expect(await readdir(join(disk.folder, 'drafts'))).toEqual([id]);
    await drafts.remove(id);
    expect(await readdir(join(disk.folder, 'drafts'))).toEqual([]);
  });
});

test('a draft is found by its id, and listed with the newest first', async () => {
  const { drafts } = await place();
  const first = await drafts.receive('a.csv', parts('x', 'y'));
  const second = await drafts.ofRun('undo', 'r');
  await drafts.save({ ...first, madeAt: '2026-01-01T00:00:00.000Z' });
  expect(await drafts.load(second.id)).toEqual(second);
  expect((await drafts.list()).map(draftName)).toEqual(['Undo of r', 'a.csv']);
});

test('content that breaks off leaves nothing', async () => {
  const { drafts, stateDir } = await place();
  async function* breaking(): AsyncGenerator<Buffer> {
    yield Buffer.from('x');
    throw new Error('aborted');
  }
  await expect(drafts.receive('a.csv', breaking())).rejects.toThrow('aborted');
  expect(await readdir(join(stateDir, 'drafts'))).toEqual([]);
});

test.each(['', '..', '../x', 'a/b', 'A'.repeat(16), '0'.repeat(15), '0'.repeat(17), `${'0'.repeat(16)}/..`])(
  'an id like %j leads to no file',
  async (id) => {
    const { drafts } = await place();
    await expect(drafts.load(id)).rejects.toThrow('This draft is gone');
    await expect(drafts.remove(id)).rejects.toThrow('This draft is gone');
  },
);

test('a damaged draft is left out of the list, and says which folder to remove', async () => {
  const { drafts, folder } = await place();
  const { id } = await drafts.receive('a.csv', parts('x'));
  await writeFile(join(folder(id), 'draft.json'), '{"version": 1');
  expect(await drafts.list()).toEqual([]);
  await expect(drafts.load(id)).rejects.toThrow(`${join(folder(id), 'draft.json')} is damaged`);
});

test('a started draft keeps the id of its run, and no bytes', async () => {
  const { drafts, folder } = await place();
  const draft = await drafts.save({ ...(await drafts.receive('a.csv', parts('x'))), planned });
  const { plan, page } = drafts.output(draft);
  for (const path of [plan, page]) await writeFile(path, 'plan');
  await drafts.settle(draft, 'a-1');
  expect(await readdir(folder(draft.id))).toEqual(['draft.json']);
  expect(await drafts.load(draft.id)).toMatchObject({ run: 'a-1' });
});

test('drafts of earlier weeks are removed', async () => {
  const { drafts } = await place();
  const old = await drafts.receive('old.csv', parts('x'));
  await drafts.save({ ...old, madeAt: '2026-11-01T00:00:00.000Z' });
  const recent = await drafts.receive('new.csv', parts('x'));
  await drafts.save({ ...recent, madeAt: '2026-11-06T00:00:00.000Z' });
  await drafts.removeOld(Date.parse('2026-11-08T00:00:01.000Z'));
  expect((await drafts.list()).map(draftName)).toEqual(['new.csv']);
});

test('a file that a killed process was receiving is removed; one that is being received, and one that is damaged, are not', async () => {
  const { drafts, folder } = await place();
  const dead = '0'.repeat(16);
  const damaged = '1'.repeat(16);
  for (const id of [dead, damaged]) {
    await mkdir(folder(id), { recursive: true });
    await writeFile(join(folder(id), '.1.tmp'), 'half a manifest');
    await writeFile(join(folder(id), 'owner.json'), JSON.stringify({ ...thisProcess(), pid: 2 ** 22 + 1 }));
  }
  await writeFile(join(folder(damaged), 'draft.json'), '{');
  async function* slow(): AsyncGenerator<Buffer> {
    yield Buffer.from('x');
    await drafts.removeOld();
  }
  const { id } = await drafts.receive('a.csv', slow());
  expect(await drafts.load(id)).toMatchObject({ id });
  await expect(stat(folder(dead))).rejects.toThrow('ENOENT');
  expect(await readdir(folder(damaged))).toContain('draft.json');
  // The folder of a draft has no owner: it outlives the process.
  expect(await readdir(folder(id))).toEqual(['draft.json', 'manifest']);
});

test('other users of the machine can read neither a draft nor its names', async () => {
  const { drafts, folder, stateDir } = await place();
  const { id } = await drafts.receive('a.csv', parts('x'));
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
  for (const path of [join(stateDir, 'drafts'), folder(id)]) expect(await modeOf(path)).toBe(0o700);
  for (const name of await readdir(folder(id))) expect(await modeOf(join(folder(id), name))).toBe(0o600);
});

test.each<[Draft['source'], string]>([
  [{ kind: 'file', name: 'titles.2026.xlsx', sha256: '', bytes: 0 }, 'titles-2026.cqplan'],
  [{ kind: 'file', name: 'Äpfel & Birnen', sha256: '', bytes: 0 }, '-pfel-Birnen.cqplan'],
  [{ kind: 'file', name: `${'x'.repeat(100)}.csv`, sha256: '', bytes: 0 }, `${'x'.repeat(40)}.cqplan`],
  [{ kind: 'retry', run: 'r' }, 'Retry-of-r.cqplan'],
])('the plan of %j is named after it', async (source, name) => {
  const { drafts, folder } = await place();
  const draft: Draft = { version: 1, id: '0'.repeat(16), madeAt: '', source, choices: {} };
  expect(drafts.output(draft).plan).toBe(join(folder(draft.id), name));
});
