import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { DatedCommand } from '../../src/cluster/entries.ts';
import {
  type CommandWatch,
  clearCommand,
  watchCommands,
  writeCommand,
} from '../../src/run/control-command.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A cluster that knows commands only, and counts how often it is asked. */
function commandsOf(answer: () => Promise<DatedCommand | undefined>) {
  const commandOf = vi.fn(answer);
  return { commandOf, cluster: { commandOf } as unknown as Cluster };
}

function watch(folder: string, cluster?: Cluster): CommandWatch {
  const watching = watchCommands('r', folder, cluster);
  onTestFinished(() => watching.close());
  return watching;
}

/** Waits until what the watch is told now has surely been looked at. */
async function looked(asked: ReturnType<typeof commandsOf>['commandOf']): Promise<void> {
  const before = asked.mock.calls.length;
  await vi.waitUntil(() => asked.mock.calls.length > before + 1, { timeout: 60_000 });
}

test('a run goes on as long as nobody wants anything', async () => {
  const { commandOf, cluster } = commandsOf(async () => undefined);
  const watching = watch(await temporaryFolder(), cluster);
  await looked(commandOf);
  expect(watching.current).toBe('unpause');
  expect(await watching.until('cancel', 'unpause')).toEqual({ command: 'unpause' });
});

test.each(['pause', 'cancel'] as const)(
  'a command to %s in the folder of the run arrives',
  async (command) => {
    const folder = await temporaryFolder();
    const watching = watch(folder);
    const arrived = watching.until('pause', 'cancel');
    await writeCommand(folder, command);
    expect(await arrived).toEqual({ command });
    expect(watching.current).toBe(command);
  },
);

test('a command says who wants it and why, in the folder and in the datastore', async () => {
  const folder = await temporaryFolder();
  const attribution = { by: { user: 'ann', host: 'desk', version: '1.0.0' }, reason: 'wrong column' };
  await writeCommand(folder, 'pause', attribution);
  expect(await watch(folder).until('pause')).toEqual({ command: 'pause', ...attribution });
});

test('what somebody else has written is cut, and what is no command is none', async () => {
  const folder = await temporaryFolder();
  const write = (command: object) => writeFile(join(folder, 'command.json'), JSON.stringify(command));
  const watching = watch(folder);
  await write({ command: 'explode', at: '2026-01-01T00:00:00.000Z' });
  await write({ command: 'pause', at: '2026-01-01T00:00:00.000Z', reason: 'x'.repeat(100_000) });
  expect((await watching.until('pause')).reason).toBe('x'.repeat(500));
});

test('a command that was made before somebody watches arrives', async () => {
  const folder = await temporaryFolder();
  await writeCommand(folder, 'pause');
  expect(await watch(folder).until('pause')).toEqual({ command: 'pause' });
});

test('a command that is not waited for does not end the waiting', async () => {
  const folder = await temporaryFolder();
  await writeCommand(folder, 'pause');
  const watching = watch(folder);
  await watching.until('pause');
  const arrived = watching.until('unpause', 'cancel');
  await writeCommand(folder, 'unpause');
  expect(await arrived).toEqual({ command: 'unpause' });
});

test.each([
  ['of the folder', '2026-01-01T00:00:00.000Z'],
  ['of the datastore', '2999-01-01T00:00:00.000Z'],
])('the later command counts: %s', async (title, at) => {
  const folder = await temporaryFolder();
  const { commandOf, cluster } = commandsOf(async () => ({ command: 'cancel', at }));
  await writeCommand(folder, 'pause');
  const watching = watch(folder, cluster);
  await looked(commandOf);
  expect(watching.current).toBe(title === 'of the folder' ? 'pause' : 'cancel');
});

test('a command that is made while somebody watches counts, though the clock was set back before', async () => {
  const folder = await temporaryFolder();
  let registered: DatedCommand = { command: 'unpause', at: '2999-01-01T00:00:00.000Z' };
  const { commandOf, cluster } = commandsOf(async () => registered);
  const watching = watch(folder, cluster);
  await looked(commandOf);
  await writeCommand(folder, 'pause');
  expect(await watching.until('pause')).toEqual({ command: 'pause' });
  registered = { command: 'cancel', at: '2000-01-01T00:00:00.000Z' };
  expect(await watching.until('cancel')).toEqual({ command: 'cancel' });
});

test('a command that was cleared is forgotten', async () => {
  const folder = await temporaryFolder();
  await writeCommand(folder, 'pause');
  await clearCommand(folder);
  await clearCommand(folder);
  const { commandOf, cluster } = commandsOf(async () => undefined);
  const watching = watch(folder, cluster);
  await looked(commandOf);
  expect(watching.current).toBe('unpause');
});

test.each([
  '',
  '{"command":"pause","a',
  '{"command":"dance","at":"2026-01-01T00:00:00.000Z"}',
  '{"command":"pause"}',
])('a file that says %j wants nothing', async (text) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'command.json'), text);
  const { commandOf, cluster } = commandsOf(async () => undefined);
  const watching = watch(folder, cluster);
  await looked(commandOf);
  expect(watching.current).toBe('unpause');
});

test('a datastore that fails is asked again', async () => {
  const { commandOf, cluster } = commandsOf(async () => {
    if (commandOf.mock.calls.length < 3) throw new Error('Connection is closed.');
    return { command: 'pause', at: '2026-01-01T00:00:00.000Z' };
  });
  expect(await watch(await temporaryFolder(), cluster).until('pause')).toEqual({ command: 'pause' });
});
