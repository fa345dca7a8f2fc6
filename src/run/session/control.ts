import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../../cluster/cluster.ts';
import { type Control, type ControlOf, controlSchema } from '../../cluster/entries.ts';
import { exists, readSmallFile } from '../../disk/files.ts';
import { repeat } from '../../repeat.ts';
import { type Deferred, deferred } from '../../waiting.ts';

/**
 * How one process tells another what to do with a run: pause, go on, cancel, another rate. The folder of the run needs no
 * datastore between the two; the cluster of a shared datastore needs no folder.
 */

const fileName = 'control.jsonl';
const pollMs = 500;

/** What a person wants, before it is dated. */
export type Wanted = Control extends infer Each ? (Each extends Control ? Omit<Each, 'at'> : never) : never;

/** A place in which a run is told what to do. */
export interface ControlPlace {
  tell(wanted: Wanted): Promise<void>;
  /** All that is still wanted, oldest first. */
  told(): Promise<readonly Control[]>;
}

/** The folder of a run. Each control is a line, so that two people who write at once lose nothing. */
export function inFolder(folder: string): ControlPlace {
  const path = join(folder, fileName);
  return {
    // The line before may have been cut off by a full disk.
    tell: (wanted) => appendFile(path, `\n${JSON.stringify(dated(wanted))}\n`, { mode: 0o600 }),
    async told() {
      const text = (await exists(path)) ? await readSmallFile(path) : '';
      return text.split('\n').flatMap((line) => parsed(line) ?? []);
    },
  };
}

/** A run that another machine may work on. */
export function inCluster(cluster: Cluster, runId: string): ControlPlace {
  return {
    tell: (wanted) => cluster.tell(runId, dated(wanted)),
    told: () => cluster.told(runId),
  };
}

/** Forgets what was wanted while another process worked on the run. */
export async function clearControls(folder: string): Promise<void> {
  await rm(join(folder, fileName), { force: true });
}

/** A command, who wants it, and why. */
type Command = Omit<ControlOf<'command'>, 'kind' | 'at'>;

/** What is wanted of a run: the latest command counts, and apart from it the latest rate, wherever they were written. */
export interface ControlWatch {
  readonly current: Command['command'];
  /** Resolves as soon as one of these is wanted; never when the watch is closed before. */
  until(...wanted: readonly Command['command'][]): Promise<Command>;
  close(): void;
}

/** @param onRate is called with each rate that is wanted from now on */
export function watchControls(
  places: readonly Pick<ControlPlace, 'told'>[],
  onRate: (control: ControlOf<'rate'>) => void = () => {},
): ControlWatch {
  let current: Command = { command: 'unpause' };
  const waiting = new Set<Deferred<Command> & { readonly wanted: readonly Command['command'][] }>();
  const slots = [
    latestOf('command', places.length, (latest) => {
      current = latest === undefined ? { command: 'unpause' } : commandOf(latest);
      for (const waiter of waiting) {
        if (!waiter.wanted.includes(current.command)) continue;
        waiting.delete(waiter);
        waiter.resolve(current);
      }
    }),
    latestOf('rate', places.length, (latest) => {
      if (latest !== undefined) onRate(latest);
    }),
  ];
  // Apart from each other: while the datastore does not answer, the folder still does.
  const looks = places.map(({ told }, place) =>
    repeat(
      async () => {
        const controls = await told();
        for (const hear of slots) hear(place, controls);
      },
      { everyMs: pollMs },
    ),
  );
  for (const look of looks) look.now();
  return {
    get current() {
      return current.command;
    },
    until(...wanted) {
      if (wanted.includes(current.command)) return Promise.resolve(current);
      const waiter = { wanted, ...deferred<Command>() };
      waiting.add(waiter);
      return waiter.promise;
    },
    close() {
      for (const look of looks) void look.stop();
    },
  };
}

/**
 * @param onLatest is called with what is wanted now, when that may have changed; undefined: nothing
 * @returns what takes all that a place says
 */
function latestOf<Kind extends Control['kind']>(
  kind: Kind,
  places: number,
  onLatest: (latest: ControlOf<Kind> | undefined) => void,
): (place: number, controls: readonly Control[]) => void {
  /** By place; absent: not asked yet. */
  const heard = Array.from(
    { length: places },
    (): { readonly last: ControlOf<Kind> | undefined } | undefined => undefined,
  );
  return (place, controls) => {
    const last = controls.findLast((control): control is ControlOf<Kind> => control.kind === kind);
    const before = heard[place];
    heard[place] = { last };
    if (isDeepStrictEqual(before?.last, last)) return;
    // What was written while it is watched is the latest, whatever the clocks of those who wrote it said.
    if (before !== undefined && last !== undefined) onLatest(last);
    else
      onLatest(
        heard
          .flatMap((each) => each?.last ?? [])
          .toSorted((a, b) => (a.at < b.at ? -1 : 1))
          .at(-1),
      );
  };
}

function commandOf({ kind: _, at: __, ...command }: ControlOf<'command'>): Command {
  return command;
}

function dated(wanted: Wanted): Control {
  return { ...wanted, at: new Date().toISOString() };
}

/** What can't be understood is not wanted: half of a line, or what a person wrote by hand. */
function parsed(line: string): Control | undefined {
  try {
    return controlSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
