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
  /** What each place says; undefined: it was not asked yet. */
  const heard = places.map((): readonly Control[] | undefined => undefined);

  /** @param latest undefined: nothing is wanted */
  function command(latest: ControlOf<'command'> | undefined): void {
    const { kind: _, at: __, ...wanted } = latest ?? { kind: 'command', at: '', command: 'unpause' };
    current = wanted;
    for (const waiter of waiting) {
      if (!waiter.wanted.includes(current.command)) continue;
      waiting.delete(waiter);
      waiter.resolve(current);
    }
  }

  function hear(place: number, controls: readonly Control[]): void {
    const before = heard[place];
    heard[place] = controls;
    for (const kind of ['command', 'rate'] as const) {
      const last = lastOf(kind, controls);
      if (isDeepStrictEqual(before && lastOf(kind, before), last)) continue;
      // What was written while it is watched is the latest, whatever the clocks of those who wrote it said.
      const isNews = before !== undefined && last !== undefined;
      const latest = isNews ? last : latestOf(heard.map((each) => each && lastOf(kind, each)));
      if (latest?.kind === 'rate') onRate(latest);
      else if (kind === 'command') command(latest);
    }
  }

  // Apart from each other: while the datastore does not answer, the folder still does.
  const looks = places.map(({ told }, place) =>
    repeat(
      async () => {
        hear(place, await told());
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

function lastOf(kind: Control['kind'], controls: readonly Control[]): Control | undefined {
  return controls.findLast((control) => control.kind === kind);
}

function latestOf(controls: readonly (Control | undefined)[]): Control | undefined {
  return controls
    .flatMap((control) => control ?? [])
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .at(-1);
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
