import { expect, test } from 'vitest';
import type { TestOptions } from '../helpers/sandbox.ts';
import { evaluationPages, type Fields, send, soundboardsPath, start } from './client.ts';

const others = { changing: true, notDeleted: '1%', evaluations: 1000 } satisfies TestOptions;

async function listed(options: TestOptions, query: Fields = {}) {
  const sandbox = await start(options);
  const pages = await evaluationPages(sandbox, { page_size: 50, ...query });
  return { sandbox, ids: pages.flat().map(({ evaluation_id: id }) => Number(id)) };
}

/** How often an identifier is in a list, for those that are not there once. */
function listedOtherwise(ids: readonly number[], expected: readonly number[]): ReadonlyMap<number, number> {
  const times = expected.map((id) => [id, ids.filter((each) => each === id).length] as const);
  return new Map(times.filter(([, count]) => count !== 1));
}

test('while pages are read, another client restores and deletes: entries are missed or listed twice', async () => {
  const { ids: all } = await listed({ ...others, changing: false });
  const { sandbox, ids } = await listed(others);
  const otherwise = listedOtherwise(ids, all);
  expect(new Set(otherwise.values())).toEqual(new Set([0, 2]));
  // An entry that is missed was deleted all the time.
  for (const [id, times] of otherwise) {
    if (times === 0) expect(sandbox.evaluation(id)).toHaveProperty('deleted_at');
  }
  const changed = await sandbox.changed();
  expect(changed).toContainEqual(
    expect.objectContaining({ kind: 'evaluation', deleted: false, restored_by: 'other-client' }),
  );
  expect(changed).toContainEqual(
    expect.objectContaining({
      deleted: true,
      evaluation: expect.objectContaining({ deleted_by: 'other-client' }),
    }),
  );
});

test('the seed decides what changes', async () => {
  const { ids } = await listed(others);
  expect((await listed(others)).ids).toEqual(ids);
  expect((await listed({ ...others, seed: 2 })).ids).not.toEqual(ids);
});

test('the list of evaluations that are not deleted changes, too, and ends', async () => {
  const query = { is_deleted: false, page_size: 1 };
  const { ids: all } = await listed({ ...others, changing: false }, query);
  const { ids } = await listed(others, query);
  expect(all).toHaveLength(10);
  expect(ids).not.toEqual(all);
});

test('from the second list on, every 50th soundboard entry has another title', async () => {
  const sandbox = await start({ changing: true, soundboards: 120, updates: 'replace' });
  const list = async () =>
    ((await send(sandbox, soundboardsPath, '{}')).body as { soundboards: Fields[] }).soundboards;
  const first = await list();
  const second = await list();
  const different = second.filter((entry, index) => entry['title'] !== first[index]?.['title']);
  expect(different.map(({ soundboard_id: id, title }) => [id, title])).toEqual([
    [50, 'Recording 50, edit 1'],
    [100, 'Recording 100, edit 1'],
  ]);
  const { title, last_modified, ...rest } = first[49] ?? {};
  expect(second[49]).toMatchObject(rest);
});
