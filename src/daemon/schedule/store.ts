import { appendFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { changeJsonFile } from '../../base/disk/changed-file.ts';
import { ifThere, makeFolder } from '../../base/disk/files.ts';
import { readJsonFile, readJsonFileIfAny, writeJsonFile } from '../../base/disk/json-file.ts';
import { lockPath } from '../../base/disk/lock.ts';
import { processSchema, stateOfProcess, thisProcess } from '../../base/disk/process.ts';
import { BusyError, fatalError, usageError } from '../../base/errors/errors.ts';
import { onDisk, systemError } from '../../base/errors/system-error.ts';
import { type Attribution, attributionSchema } from '../../domain/actor.ts';
import { scheduleNames } from '../../domain/names.ts';
import {
  newState,
  type Schedule,
  type ScheduleState,
  scheduleSchema,
  scheduleStateSchema,
  type Trigger,
  triggerSchema,
} from './schedule.ts';

/** `seen.json`: the latest refusal of a file that a person has seen and dismissed. */
const seenSchema = z.object({ until: z.string(), ...attributionSchema.shape });

const daemonSchema = z.object({ ...processSchema.shape, at: z.string() });

/** After this silence, a daemon of another machine is gone. */
const daemonGoneAfterMs = 60_000;

export type ScheduleStore = ReturnType<typeof openScheduleStore>;

/**
 * The schedules of a state folder, each in its own folder. Users write `schedule.json`, `trigger.json` and `seen.json`; only the holder of
 * the schedule's lock writes `state.json`.
 */
export function openScheduleStore(stateDir: string) {
  const all = join(stateDir, 'schedules');
  const folder = (name: string): string => join(all, scheduleNames.require(name));
  const fileOf = (name: string, file: string): string => join(folder(name), file);

  const names = async (): Promise<readonly string[]> => {
    const found = (await onDisk(all, () => ifThere(readdir(all, { withFileTypes: true })))) ?? [];
    return found
      .flatMap((each) => (each.isDirectory() && scheduleNames.has(each.name) ? [each.name] : []))
      .sort();
  };
  const look = (name: string): Promise<Schedule | undefined> =>
    readJson(fileOf(name, 'schedule.json'), scheduleSchema);
  /** @throws a usage error `SCHEDULE_UNKNOWN` */
  const load = async (name: string): Promise<Schedule> => {
    const found = scheduleNames.has(name) ? await look(name) : undefined;
    if (found !== undefined) return found;
    const existing = await names();
    const hint = existing.length === 0 ? 'it has no schedules yet' : `there are ${existing.join(', ')}`;
    throw usageError('SCHEDULE_UNKNOWN', `There is no schedule ${name} in ${stateDir}: ${hint}.`);
  };
  const trigger = (name: string): Promise<Trigger | undefined> =>
    readJson(fileOf(name, 'trigger.json'), triggerSchema);

  return {
    folder,
    /** By name. @param onUnreadable gets the errors of damaged schedules, which are left out; without it, they are thrown */
    async list(onUnreadable?: (error: Error) => void): Promise<readonly Schedule[]> {
      const read = (name: string) =>
        onUnreadable === undefined ? look(name) : look(name).catch((error) => void onUnreadable(error));
      return (await Promise.all((await names()).map(read))).filter((schedule) => schedule !== undefined);
    },
    load,
    look,
    /** @throws a usage error `SCHEDULE_EXISTS` */
    async add(schedule: Schedule): Promise<Schedule> {
      const { name } = schedule;
      await makeFolder(all);
      await mkdir(folder(name), { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw systemError(error, folder(name)) ?? error;
        // A killed process has left a folder without a schedule.
        if ((await look(name)) === undefined) return;
        throw usageError(
          'SCHEDULE_EXISTS',
          `Schedule ${name} already exists ("cqbatch schedule show ${name}"): choose another name, or replace it with --replace.`,
        );
      });
      await writeJsonFile(fileOf(name, 'schedule.json'), schedule);
      return schedule;
    },
    /**
     * Of two changes at once, the second sees the first.
     *
     * @throws a usage error `SCHEDULE_UNKNOWN`, or what `change` throws
     */
    async change(name: string, change: (current: Schedule) => Schedule): Promise<Schedule> {
      const found = await load(name);
      return changeJsonFile(fileOf(name, 'schedule.json'), scheduleSchema, (current = found) =>
        change(current),
      );
    },
    /** Also removes the history. A line in `removed.jsonl` says which user did, and why. */
    async remove(name: string, attribution: Attribution): Promise<void> {
      const line = { schedule: name, at: new Date().toISOString(), ...attribution };
      const removals = join(all, 'removed.jsonl');
      await onDisk(removals, () => appendFile(removals, `${JSON.stringify(line)}\n`, { mode: 0o600 }));
      // A half-removed folder must not look like a schedule.
      const removed = `${folder(name)}.${process.pid}.removed`;
      await onDisk(folder(name), () => rename(folder(name), removed));
      await onDisk(removed, () => rm(removed, { recursive: true, force: true }));
    },
    state: async (name: string): Promise<ScheduleState> =>
      (await readJson(fileOf(name, 'state.json'), scheduleStateSchema)) ?? newState,
    saveState: (name: string, state: ScheduleState) => writeJsonFile(fileOf(name, 'state.json'), state),
    /** Up to when a person has seen which files were refused, ISO 8601 UTC. Undefined before the first time. */
    seenUntil: async (name: string): Promise<string | undefined> =>
      (await readJson(fileOf(name, 'seen.json'), seenSchema))?.until,
    saveSeen: (name: string, seen: Attribution & { readonly until: string }) =>
      writeJsonFile(fileOf(name, 'seen.json'), seen),
    trigger,
    saveTrigger: (name: string, wanted: Trigger) => writeJsonFile(fileOf(name, 'trigger.json'), wanted),
    /** Removes a trigger that was obeyed. A newer trigger stays. */
    async clearTrigger(name: string, { at }: Trigger): Promise<void> {
      if ((await trigger(name))?.at === at) await rm(fileOf(name, 'trigger.json'), { force: true });
    },
    /** @throws a busy error `SCHEDULE_LOCKED` while another process decides what the schedule does */
    lock: (name: string) =>
      lockPath({
        path: fileOf(name, 'schedule'),
        purpose: `schedule ${name}`,
        taken: (who) =>
          new BusyError(
            'SCHEDULE_LOCKED',
            `A run of schedule ${name} may be starting: ${who} has it`,
            'Try again in a moment.',
          ),
      }),
    /** @throws a `SystemError` if the folder has gone since an earlier call */
    begin: (): Promise<void> => makeFolder(all),
    async showDaemon(): Promise<void> {
      await writeJsonFile(join(all, 'daemon.json'), { ...thisProcess(), at: new Date().toISOString() });
    },
    /** The process that carries out the schedules, if known. */
    async daemon() {
      const found = await readJsonFileIfAny(join(all, 'daemon.json'), daemonSchema);
      if (found === undefined) return undefined;
      const state = stateOfProcess(found);
      const isGone = state === 'unknown' && Date.now() - Date.parse(found.at) > daemonGoneAfterMs;
      return state === 'dead' || isGone ? undefined : found;
    },
  };
}

function readJson<Value>(path: string, schema: z.ZodType<Value>): Promise<Value | undefined> {
  return readJsonFile(path, schema, (cause) =>
    fatalError('SCHEDULE_UNREADABLE', `${path} is damaged: fix it or move it away.`, cause),
  );
}
