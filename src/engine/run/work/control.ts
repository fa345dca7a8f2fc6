import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { repeat } from '../../../base/async/repeat.ts';
import { exists } from '../../../base/disk/files.ts';
import { readSmallFile } from '../../../base/disk/open-file.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { type Control, type ControlOf, controlKinds, controlSchema } from '../../cluster/entries.ts';
import { priorityOf } from '../record/record.ts';
import type { OpenPart, StopPhase } from './run-in-progress.ts';

/** Controls for runs of other processes: in the run's folder without a common datastore, in the cluster without a common folder. */

const controlFileName = 'control.jsonl';
const pollMs = 500;

/** Obeys commands from elsewhere, and sets the rate and the priority that they ask for. */
export const openControls: OpenPart = (inProgress, defer) => {
  const { run, cluster } = inProgress;
  const { id } = run.record;
  const folder = controlsInFolder(run.store.folder(id));
  const places = cluster === undefined ? [folder] : [folder, controlsInCluster(cluster, id)];
  return openControlsIn(places)(inProgress, defer);
};

/** The commands that each phase of a run listens to. */
const commandsInPhase: Readonly<Record<StopPhase, readonly Command['command'][]>> = {
  feeding: ['pause', 'cancel'],
  paused: ['unpause', 'cancel'],
  'paused by canary': ['unpause', 'cancel'],
  'between stages': ['cancel'],
};
const stateAfterCommand = { pause: 'paused', unpause: 'unpaused', cancel: 'cancelled' } as const;

export function openControlsIn(places: readonly Pick<ControlPlace, 'readControls'>[]): OpenPart {
  return ({ keeper, tellEvent, onError }, defer) => {
    const setOption = ({ kind: _, ...change }: OptionControl): void => {
      const { record } = keeper;
      if ('priority' in change) {
        if (change.priority !== priorityOf(record)) tellEvent({ type: 'priority set', change });
        return;
      }
      const rate = change.rate === null ? undefined : { ...change.rate, setAt: change.at };
      if (!isDeepStrictEqual(record.options.rate, rate)) tellEvent({ type: 'rate set', change });
    };
    const controls = watchControls(places, setOption, onError);
    defer(() => controls.close());
    return {
      onStop(phase, stop) {
        const listener = ({ command, ...attribution }: Command): void =>
          stop({ state: stateAfterCommand[command], ...attribution });
        const pausedAt = phase === 'paused by canary' ? keeper.record.canary?.at : undefined;
        return controls.onCommand(commandsInPhase[phase], listener, pausedAt);
      },
    };
  };
}

export type NewControl = Control extends infer Each
  ? Each extends Control
    ? Omit<Each, 'at'>
    : never
  : never;

export interface ControlPlace {
  writeControl(wanted: NewControl): Promise<void>;
  /** Reads all controls, the oldest first. */
  readControls(): Promise<readonly Control[]>;
}

/** Each control is one line, so that two users can write at once. */
export function controlsInFolder(folder: string): ControlPlace {
  const path = join(folder, controlFileName);
  return {
    // A full disk may have cut off the previous line.
    writeControl: (wanted) => appendFile(path, `\n${JSON.stringify(withTime(wanted))}\n`, { mode: 0o600 }),
    async readControls() {
      const text = (await exists(path)) ? await readSmallFile(path) : '';
      return text.split('\n').flatMap((line) => parsedControl(line) ?? []);
    },
  };
}

export function controlsInCluster(cluster: Cluster, runId: string): ControlPlace {
  return {
    writeControl: (wanted) => cluster.tell(runId, withTime(wanted)),
    readControls: () => cluster.controlsOf(runId),
  };
}

/** Removes the controls that were meant for an earlier process of the run. */
export async function clearControls(folder: string): Promise<void> {
  await rm(join(folder, controlFileName), { force: true });
}

export type Command = Omit<ControlOf<'command'>, 'kind' | 'at'>;

/** Watches the commands for a run. The latest control of each kind counts, from all places. */
export interface ControlWatch {
  readonly currentCommand: Command['command'];
  /**
   * Calls the listener once, with the first of these commands. Returns a function that removes the listener.
   *
   * @param pausedAt when the run paused itself: an `unpause` from before this pause does not end it
   */
  onCommand(
    wanted: readonly Command['command'][],
    listener: (command: Command) => void,
    pausedAt?: string,
  ): () => void;
  close(): void;
}

export type OptionControl = Exclude<Control, { readonly kind: 'command' }>;

/**
 * @param onOption gets each new rate and priority
 * @param onError gets errors of reading a place, which is repeated
 */
export function watchControls(
  places: readonly Pick<ControlPlace, 'readControls'>[],
  onOption: (control: OptionControl) => void = () => {},
  onError: (error: Error) => void = () => {},
): ControlWatch {
  let current = noCommand;
  const waiting = new Set<CommandWaiter>();
  /** The controls of each place as they were last read. Undefined before the first read of a place. */
  const lastRead = places.map((): readonly Control[] | undefined => undefined);

  function command(latest: ControlOf<'command'>, isNew: boolean): void {
    current = latest;
    for (const waiter of waiting) {
      if (!isWanted(current, waiter, isNew)) continue;
      waiting.delete(waiter);
      tell(waiter, current);
    }
  }

  function compare(place: number, controls: readonly Control[]): void {
    const earlier = lastRead[place];
    lastRead[place] = controls;
    for (const kind of controlKinds) {
      const last = lastOfKind(kind, controls);
      if (isDeepStrictEqual(earlier && lastOfKind(kind, earlier), last)) continue;
      // A control that arrives while watching is the latest, even if its writer's clock is wrong.
      const isNew = earlier !== undefined && last !== undefined;
      const latest = isNew ? last : latestControl(lastRead.map((each) => each && lastOfKind(kind, each)));
      if (kind === 'command') command(latest?.kind === kind ? latest : noCommand, isNew);
      else if (latest !== undefined && latest.kind !== 'command') onOption(latest);
    }
  }

  // Separately: the folder answers even while the datastore does not.
  const polls = places.map(({ readControls }, place) =>
    repeat(
      async () => {
        compare(place, await readControls());
      },
      { everyMs: pollMs, onError },
    ),
  );
  for (const poll of polls) poll.now();
  return {
    get currentCommand() {
      return current.command;
    },
    onCommand(wanted, listener, pausedAt) {
      const waiter = { wanted, listener, pausedAt };
      if (isWanted(current, waiter, false)) tell(waiter, current);
      else waiting.add(waiter);
      return () => waiting.delete(waiter);
    },
    close() {
      for (const poll of polls) void poll.stop();
    },
  };
}

interface CommandWaiter {
  readonly wanted: readonly Command['command'][];
  readonly listener: (command: Command) => void;
  readonly pausedAt: string | undefined;
}

const noCommand: ControlOf<'command'> = { kind: 'command', command: 'unpause', at: '' };

/** @param isNew whether the command has just arrived: then it is later than the pause, even if its writer's clock is wrong */
function isWanted(
  { command, at }: ControlOf<'command'>,
  { wanted, pausedAt }: CommandWaiter,
  isNew: boolean,
): boolean {
  if (!wanted.includes(command)) return false;
  return command !== 'unpause' || pausedAt === undefined || isNew || at > pausedAt;
}

function tell({ listener }: CommandWaiter, { kind: _, at: __, ...command }: ControlOf<'command'>): void {
  listener(command);
}

function lastOfKind(kind: Control['kind'], controls: readonly Control[]): Control | undefined {
  return controls.findLast((control) => control.kind === kind);
}

function latestControl(controls: readonly (Control | undefined)[]): Control | undefined {
  return controls
    .flatMap((control) => control ?? [])
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .at(-1);
}

function withTime(wanted: NewControl): Control {
  return { ...wanted, at: new Date().toISOString() };
}

/** Ignores a partial write, or an edit by hand. */
function parsedControl(line: string): Control | undefined {
  try {
    return controlSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
