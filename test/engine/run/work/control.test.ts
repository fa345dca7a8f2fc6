import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Cluster } from '../../../../src/engine/cluster/cluster.ts';
import type { Control, ControlOf } from '../../../../src/engine/cluster/entries.ts';
import {
  type ControlWatch,
  clearControls,
  controlsInCluster,
  controlsInFolder,
  type NewControl,
  type OptionControl,
  watchControls,
} from '../../../../src/engine/run/work/control.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

/** A cluster that knows only controls, and counts how often it is asked. */
function controlsOf(answer: () => Promise<readonly Control[]>) {
  const told = vi.fn(answer);
  return { told, cluster: { controlsOf: told } as unknown as Cluster };
}

function watch(folder: string, cluster?: Cluster, onOption?: (control: OptionControl) => void): ControlWatch {
  const watching = watchControls(
    [controlsInFolder(folder), ...(cluster === undefined ? [] : [controlsInCluster(cluster, 'r')])],
    onOption,
  );
  onTestFinished(() => watching.close());
  return watching;
}

function until(
  watching: ControlWatch,
  ...wanted: readonly ControlWatch['currentCommand'][]
): Promise<object> {
  return new Promise((resolve) => {
    watching.onCommand(wanted, resolve);
  });
}

const commanded = (command: ControlOf<'command'>['command']): NewControl => ({ kind: 'command', command });

/** Waits until the watch has certainly seen everything said so far. */
async function looked(asked: ReturnType<typeof controlsOf>['told']): Promise<void> {
  const before = asked.mock.calls.length;
  await expect.poll(() => asked.mock.calls.length).toBeGreaterThan(before + 1);
}

test('a command names its user and reason, in the folder and in the datastore', async () => {
  const folder = await temporaryFolder();
  const attribution = { by: { user: 'ann', host: 'desk', version: '1.0.0' }, reason: 'wrong column' };
  await controlsInFolder(folder).writeControl({ ...commanded('pause'), ...attribution });
  expect(await until(watch(folder), 'pause')).toEqual({ command: 'pause', ...attribution });
});

test('texts of other programs are shortened, and a line that is not a command is ignored', async () => {
  const folder = await temporaryFolder();
  const write = (command: object) => writeFile(join(folder, 'control.jsonl'), JSON.stringify(command));
  const watching = watch(folder);
  await write({ kind: 'command', command: 'explode', at: '2026-01-01T00:00:00.000Z' });
  await write({
    kind: 'command',
    command: 'pause',
    at: '2026-01-01T00:00:00.000Z',
    reason: 'x'.repeat(100_000),
  });
  expect(((await until(watching, 'pause')) as { reason?: string }).reason).toBe('x'.repeat(500));
});

test.each([
  ['of the folder', '2026-01-01T00:00:00.000Z'],
  ['of the datastore', '2999-01-01T00:00:00.000Z'],
])('the later command counts: %s', async (title, at) => {
  const folder = await temporaryFolder();
  const { told, cluster } = controlsOf(async () => [{ kind: 'command', command: 'cancel', at }]);
  await controlsInFolder(folder).writeControl(commanded('pause'));
  const watching = watch(folder, cluster);
  await looked(told);
  expect(watching.currentCommand).toBe(title === 'of the folder' ? 'pause' : 'cancel');
});

test('a command given during the watch counts, although the clock was set back before', async () => {
  const folder = await temporaryFolder();
  let registered: Control = { kind: 'command', command: 'unpause', at: '2999-01-01T00:00:00.000Z' };
  const { told, cluster } = controlsOf(async () => [registered]);
  const watching = watch(folder, cluster);
  await looked(told);
  await controlsInFolder(folder).writeControl(commanded('pause'));
  expect(await until(watching, 'pause')).toEqual({ command: 'pause' });
  registered = { kind: 'command', command: 'cancel', at: '2000-01-01T00:00:00.000Z' };
  expect(await until(watching, 'cancel')).toEqual({ command: 'cancel' });
});

describe('a run that paused itself', () => {
  const pausedAt = '2026-11-01T12:00:00.000Z';
  const unpausedAt = (at: string): Control => ({ kind: 'command', command: 'unpause', at });

  function untilUnpaused(watching: ControlWatch): readonly object[] {
    const heard: object[] = [];
    watching.onCommand(['unpause', 'cancel'], (command) => heard.push(command), pausedAt);
    return heard;
  }

  test('stays paused without a command, and after an earlier unpause', async () => {
    for (const controls of [[], [unpausedAt('2026-11-01T11:59:59.999Z')]]) {
      const { told, cluster } = controlsOf(async () => controls);
      const watching = watch(await temporaryFolder(), cluster);
      const heardSoon = untilUnpaused(watching);
      await looked(told);
      const heardLater = untilUnpaused(watching);
      expect([heardSoon, heardLater]).toEqual([[], []]);
    }
  });

  test('goes on after an unpause that came while no process watched', async () => {
    const { told, cluster } = controlsOf(async () => [unpausedAt('2026-11-01T12:00:00.001Z')]);
    const watching = watch(await temporaryFolder(), cluster);
    const heardSoon = untilUnpaused(watching);
    await looked(told);
    const heardLater = untilUnpaused(watching);
    expect([heardSoon, heardLater]).toEqual([[{ command: 'unpause' }], [{ command: 'unpause' }]]);
  });

  test('goes on after an unpause that arrives, although the clock of its user is behind', async () => {
    const controls: Control[] = [unpausedAt('2026-10-01T00:00:00.000Z')];
    const { told, cluster } = controlsOf(async () => [...controls]);
    const watching = watch(await temporaryFolder(), cluster);
    await looked(told);
    const heard = untilUnpaused(watching);
    controls.push(unpausedAt('2026-10-02T00:00:00.000Z'));
    await looked(told);
    expect(heard).toEqual([{ command: 'unpause' }]);
  });

  test('is cancelled by a command from before its pause', async () => {
    const folder = await temporaryFolder();
    await controlsInFolder(folder).writeControl(commanded('cancel'));
    const { told, cluster } = controlsOf(async () => []);
    const watching = watch(folder, cluster);
    await looked(told);
    expect(untilUnpaused(watching)).toEqual([{ command: 'cancel' }]);
  });
});

test('a command that was cleared is forgotten', async () => {
  const folder = await temporaryFolder();
  await controlsInFolder(folder).writeControl(commanded('pause'));
  await clearControls(folder);
  await clearControls(folder);
  const { told, cluster } = controlsOf(async () => []);
  const watching = watch(folder, cluster);
  await looked(told);
  expect(watching.currentCommand).toBe('unpause');
});

test.each([
  '',
  '{"kind":"command","command":"pause","a',
  '{"kind":"command","command":"dance","at":"2026-01-01T00:00:00.000Z"}',
  '{"kind":"command","command":"pause"}',
  '{"kind":"rate","rate":"20/s","at":"2026-01-01T00:00:00.000Z"}',
])('a file with %j contains no command', async (text) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'control.jsonl'), text);
  const { told, cluster } = controlsOf(async () => []);
  const rates: unknown[] = [];
  const watching = watch(folder, cluster, (control) => rates.push(control));
  await looked(told);
  expect([watching.currentCommand, rates]).toEqual(['unpause', []]);
});

test('a command after a line that a full disk has torn arrives', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'control.jsonl'), '{"kind":"comm');
  await controlsInFolder(folder).writeControl(commanded('pause'));
  expect(await until(watch(folder), 'pause')).toEqual({ command: 'pause' });
});

describe('a rate', () => {
  const twenty: NewControl = { kind: 'rate', rate: { text: '20/s', auto: false, perSecond: 20 } };
  const none: NewControl = { kind: 'rate', rate: null, reason: 'no other program calls it' };
  const _at = '2026-01-01T00:00:00.000Z';
  const _later = '2026-01-02T00:00:00.000Z';

  test('arrives with its user and reason, and so does the next one; a paused run stays paused', async () => {
    const folder = await temporaryFolder();
    const rates: Control[] = [];
    const watching = watch(folder, undefined, (control) => rates.push(control));
    await controlsInFolder(folder).writeControl(commanded('pause'));
    await controlsInFolder(folder).writeControl(twenty);
    await expect.poll(() => rates.length).toBe(1);
    await controlsInFolder(folder).writeControl(none);
    await expect.poll(() => rates.length).toBe(2);
    expect(rates).toEqual([twenty, none].map((rate) => ({ ...rate, at: expect.any(String) })));
    expect(watching.currentCommand).toBe('pause');
  });
});
