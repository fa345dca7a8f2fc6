import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../cluster/cluster.ts';
import type { ControlCommand, DatedCommand } from '../cluster/entries.ts';
import { writeFileAtomically } from '../files.ts';
import { repeat } from '../repeat.ts';
import { type Deferred, deferred } from '../waiting.ts';

/**
 * How one process asks another to pause, go on with or cancel a run: with a file in the run's folder, which needs no
 * datastore and no connection between the two, or in the cluster of a shared datastore, which needs no folder.
 */

const fileName = 'command.json';
const pollMs = 500;
const commands: readonly string[] = ['unpause', 'pause', 'cancel'] satisfies ControlCommand[];

export async function writeCommand(runFolder: string, command: ControlCommand): Promise<void> {
  const dated: DatedCommand = { command, at: new Date().toISOString() };
  await writeFileAtomically(join(runFolder, fileName), `${JSON.stringify(dated)}\n`);
}

export async function clearCommand(runFolder: string): Promise<void> {
  await rm(join(runFolder, fileName), { force: true });
}

async function readCommand(runFolder: string): Promise<DatedCommand | undefined> {
  try {
    const { command, at } = JSON.parse(
      await readFile(join(runFolder, fileName), 'utf8'),
    ) as Partial<DatedCommand>;
    return commands.includes(command ?? '') && at !== undefined
      ? { command: command as ControlCommand, at }
      : undefined;
  } catch {
    // Not there, or half of a file by somebody's hand: nothing that could be understood is wanted.
    return undefined;
  }
}

/** What is wanted of a run at the moment: the latest command counts, wherever it was made. */
export interface CommandWatch {
  readonly current: ControlCommand;
  /** Resolves as soon as something of this is wanted; never when the watch is closed before. */
  until(...wanted: readonly ControlCommand[]): Promise<ControlCommand>;
  close(): void;
}

/** @param cluster of a shared datastore; without it only the run's folder is looked at. */
export function watchCommands(runId: string, runFolder: string, cluster?: Cluster): CommandWatch {
  let current: ControlCommand = 'unpause';
  const waiting = new Set<Deferred<ControlCommand> & { readonly wanted: readonly ControlCommand[] }>();

  /** From the folder, and from the cluster; undefined: not asked yet. */
  const heard: { folder?: Heard; cluster?: Heard } = {};
  let latest: DatedCommand | undefined;

  const hear = (source: keyof typeof heard, command: DatedCommand | undefined): void => {
    const before = heard[source];
    heard[source] = { command };
    if (isDeepStrictEqual(before?.command, command)) return;
    const others = source === 'folder' ? heard.cluster : heard.folder;
    // What was made while it is watched is the latest, whatever the clocks of who made it said.
    latest = before === undefined || command === undefined ? laterOf(command, others?.command) : command;
    current = latest?.command ?? 'unpause';
    for (const waiter of waiting) {
      if (!waiter.wanted.includes(current)) continue;
      waiting.delete(waiter);
      waiter.resolve(current);
    }
  };
  const ask = cluster && (async () => hear('cluster', await cluster.commandOf(runId)));
  // Apart from each other: while the datastore does not answer, the folder still does.
  const looks = [async () => hear('folder', await readCommand(runFolder)), ...(ask ? [ask] : [])].map(
    (look) => repeat(look, { everyMs: pollMs }),
  );
  for (const look of looks) look.now();
  return {
    get current() {
      return current;
    },
    until(...wanted) {
      if (wanted.includes(current)) return Promise.resolve(current);
      const waiter = { wanted, ...deferred<ControlCommand>() };
      waiting.add(waiter);
      return waiter.promise;
    },
    close() {
      for (const look of looks) void look.stop();
    },
  };
}

interface Heard {
  readonly command: DatedCommand | undefined;
}

function laterOf(one: DatedCommand | undefined, other: DatedCommand | undefined): DatedCommand | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.at < other.at ? other : one;
}
