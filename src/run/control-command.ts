import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Attribution } from '../actor.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type ControlCommand, commandSchema, type DatedCommand } from '../cluster/entries.ts';
import { writeFileAtomically } from '../files.ts';
import { repeat } from '../repeat.ts';
import { type Deferred, deferred } from '../waiting.ts';

/**
 * How one process asks another to pause, go on with or cancel a run: with a file in the run's folder, which needs no
 * datastore and no connection between the two, or in the cluster of a shared datastore, which needs no folder.
 */

const fileName = 'command.json';
const pollMs = 500;

export async function writeCommand(
  runFolder: string,
  command: ControlCommand,
  attribution: Attribution = {},
): Promise<void> {
  const dated: DatedCommand = { command, at: new Date().toISOString(), ...attribution };
  await writeFileAtomically(join(runFolder, fileName), `${JSON.stringify(dated)}\n`);
}

export async function clearCommand(runFolder: string): Promise<void> {
  await rm(join(runFolder, fileName), { force: true });
}

/** What somebody wants, as a file of a run's folder says it. */
export async function readWanted<Wanted>(
  path: string,
  schema: z.ZodType<Wanted>,
): Promise<Wanted | undefined> {
  try {
    return schema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data;
  } catch {
    // Not there, or half of a file by somebody's hand: nothing that could be understood is wanted.
    return undefined;
  }
}

/** What is wanted of a run at the moment: the latest command counts, wherever it was made. */
export interface CommandWatch {
  readonly current: ControlCommand;
  /** Resolves as soon as something of this is wanted, with who wants it; never when the watch is closed before. */
  until(...wanted: readonly ControlCommand[]): Promise<WantedCommand>;
  close(): void;
}

/** What is wanted, and by whom. */
export type WantedCommand = Omit<DatedCommand, 'at'>;

/** @param cluster of a shared datastore; without it only the run's folder is looked at. */
export function watchCommands(runId: string, runFolder: string, cluster?: Cluster): CommandWatch {
  let current: WantedCommand = { command: 'unpause' };
  const waiting = new Set<Deferred<WantedCommand> & { readonly wanted: readonly ControlCommand[] }>();
  const watch = watchLatest({
    fromFolder: () => readWanted(join(runFolder, fileName), commandSchema),
    fromCluster: cluster && (() => cluster.commandOf(runId)),
    onLatest(latest) {
      current = latest === undefined ? { command: 'unpause' } : withoutTime(latest);
      for (const waiter of waiting) {
        if (!waiter.wanted.includes(current.command)) continue;
        waiting.delete(waiter);
        waiter.resolve(current);
      }
    },
  });
  return {
    get current() {
      return current.command;
    },
    until(...wanted) {
      if (wanted.includes(current.command)) return Promise.resolve(current);
      const waiter = { wanted, ...deferred<WantedCommand>() };
      waiting.add(waiter);
      return waiter.promise;
    },
    close: watch.close,
  };
}

function withoutTime({ at: _, ...wanted }: DatedCommand): WantedCommand {
  return wanted;
}

interface Dated {
  readonly at: string;
}

interface LatestOptions<Command extends Dated> {
  readonly fromFolder: () => Promise<Command | undefined>;
  readonly fromCluster?: (() => Promise<Command | undefined>) | undefined;
  /** Called with what is wanted now, when that may have changed; undefined: nothing. */
  readonly onLatest: (command: Command | undefined) => void;
}

/** Looks now and then for what is wanted of a run, in its folder and in the cluster: the latest counts. */
export function watchLatest<Command extends Dated>(options: LatestOptions<Command>): { close(): void } {
  const { fromFolder, fromCluster, onLatest } = options;
  /** From the folder, and from the cluster; undefined: not asked yet. */
  const heard: { folder?: { command: Command | undefined }; cluster?: { command: Command | undefined } } = {};

  const hear = (source: keyof typeof heard, command: Command | undefined): void => {
    const before = heard[source];
    heard[source] = { command };
    if (isDeepStrictEqual(before?.command, command)) return;
    const others = source === 'folder' ? heard.cluster : heard.folder;
    // What was made while it is watched is the latest, whatever the clocks of who made it said.
    onLatest(before === undefined || command === undefined ? laterOf(command, others?.command) : command);
  };
  // Apart from each other: while the datastore does not answer, the folder still does.
  const looks = [
    async () => hear('folder', await fromFolder()),
    ...(fromCluster === undefined ? [] : [async () => hear('cluster', await fromCluster())]),
  ].map((look) => repeat(look, { everyMs: pollMs }));
  for (const look of looks) look.now();
  return {
    close() {
      for (const look of looks) void look.stop();
    },
  };
}

function laterOf<Command extends Dated>(
  one: Command | undefined,
  other: Command | undefined,
): Command | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.at < other.at ? other : one;
}
