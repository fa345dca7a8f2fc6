import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { DatedWish } from '../../src/cluster/entries.ts';
import { clearWish, type WishWatch, watchWishes, writeWish } from '../../src/run/wish.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A cluster that knows wishes only, and counts how often it is asked. */
function wishesOf(answer: () => Promise<DatedWish | undefined>) {
  const wishOf = vi.fn(answer);
  return { wishOf, cluster: { wishOf } as unknown as Cluster };
}

function watch(folder: string, cluster?: Cluster): WishWatch {
  const watching = watchWishes('r', folder, cluster);
  onTestFinished(() => watching.close());
  return watching;
}

/** Waits until what the watch is told now has surely been looked at. */
async function looked(asked: ReturnType<typeof wishesOf>['wishOf']): Promise<void> {
  const before = asked.mock.calls.length;
  await vi.waitUntil(() => asked.mock.calls.length > before + 1, { timeout: 10_000 });
}

test('a run goes on as long as nobody wants anything', async () => {
  const { wishOf, cluster } = wishesOf(async () => undefined);
  const watching = watch(await temporaryFolder(), cluster);
  await looked(wishOf);
  expect(watching.current).toBe('go');
  expect(await watching.until('cancel', 'go')).toBe('go');
});

test.each(['pause', 'cancel'] as const)('a wish to %s in the folder of the run arrives', async (wish) => {
  const folder = await temporaryFolder();
  const watching = watch(folder);
  const arrived = watching.until('pause', 'cancel');
  await writeWish(folder, wish);
  expect(await arrived).toBe(wish);
  expect(watching.current).toBe(wish);
});

test('a wish that was made before somebody watches arrives', async () => {
  const folder = await temporaryFolder();
  await writeWish(folder, 'pause');
  expect(await watch(folder).until('pause')).toBe('pause');
});

test('a wish that is not waited for does not end the waiting', async () => {
  const folder = await temporaryFolder();
  await writeWish(folder, 'pause');
  const watching = watch(folder);
  await watching.until('pause');
  const arrived = watching.until('go', 'cancel');
  await writeWish(folder, 'go');
  expect(await arrived).toBe('go');
});

test.each([
  ['of the folder', '2026-01-01T00:00:00.000Z'],
  ['of the datastore', '2999-01-01T00:00:00.000Z'],
])('the later wish counts: %s', async (title, at) => {
  const folder = await temporaryFolder();
  const { wishOf, cluster } = wishesOf(async () => ({ wish: 'cancel', at }));
  await writeWish(folder, 'pause');
  const watching = watch(folder, cluster);
  await looked(wishOf);
  expect(watching.current).toBe(title === 'of the folder' ? 'pause' : 'cancel');
});

test('a wish that is made while somebody watches counts, though the clock was set back before', async () => {
  const folder = await temporaryFolder();
  let registered: DatedWish = { wish: 'go', at: '2999-01-01T00:00:00.000Z' };
  const { wishOf, cluster } = wishesOf(async () => registered);
  const watching = watch(folder, cluster);
  await looked(wishOf);
  await writeWish(folder, 'pause');
  expect(await watching.until('pause')).toBe('pause');
  registered = { wish: 'cancel', at: '2000-01-01T00:00:00.000Z' };
  expect(await watching.until('cancel')).toBe('cancel');
});

test('a wish that was cleared is forgotten', async () => {
  const folder = await temporaryFolder();
  await writeWish(folder, 'pause');
  await clearWish(folder);
  await clearWish(folder);
  const { wishOf, cluster } = wishesOf(async () => undefined);
  const watching = watch(folder, cluster);
  await looked(wishOf);
  expect(watching.current).toBe('go');
});

test.each(['', '{"wish":"pause","a', '{"wish":"dance","at":"2026-01-01T00:00:00.000Z"}', '{"wish":"pause"}'])(
  'a file that says %j wants nothing',
  async (text) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'wish.json'), text);
    const { wishOf, cluster } = wishesOf(async () => undefined);
    const watching = watch(folder, cluster);
    await looked(wishOf);
    expect(watching.current).toBe('go');
  },
);

test('a datastore that fails is asked again', async () => {
  const { wishOf, cluster } = wishesOf(async () => {
    if (wishOf.mock.calls.length < 3) throw new Error('Connection is closed.');
    return { wish: 'pause', at: '2026-01-01T00:00:00.000Z' };
  });
  expect(await watch(await temporaryFolder(), cluster).until('pause')).toBe('pause');
});
