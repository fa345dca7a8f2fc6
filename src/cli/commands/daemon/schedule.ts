import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { poll } from '../../../base/async/waiting.ts';
import { BusyError, usageError } from '../../../base/errors/errors.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { shellWord } from '../../../base/text/shell-word.ts';
import { Inbox } from '../../../daemon/inbox/inbox.ts';
import { goingScheduledRun, type Schedule } from '../../../daemon/schedule/schedule.ts';
import { openScheduleStore, type ScheduleStore } from '../../../daemon/schedule/store.ts';
import { nextTimes, timesOf } from '../../../daemon/schedule/times.ts';
import { actualState } from '../../../engine/run/record/record.ts';
import { progressOf } from '../../../engine/run/record/run-journal.ts';
import type { Flags } from '../../config.ts';
import { type CommandContext, openCommandContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import {
  historyDocument,
  historyText,
  listText,
  type ScheduleView,
  scheduleDocument,
  scheduleText,
  timesText,
} from '../../render/schedule.ts';
import { attributionOf } from '../options.ts';

/** `cqbatch schedule …` works on the state folder only, without the datastore. */
export interface Place extends CommandContext {
  readonly schedules: ScheduleStore;
}

export async function openPlace(flags: Flags): Promise<Place> {
  const workplace = await openCommandContext(flags);
  return { ...workplace, schedules: openScheduleStore(workplace.store.stateDir) };
}

/** `cqbatch schedule list` */
export async function listSchedules(flags: Flags): Promise<ExitCode> {
  const place = await openPlace(flags);
  const { terminal, schedules, store } = place;
  const warn = ({ message }: Error): void => terminal.warn(`warning: ${message}`);
  const views: ScheduleView[] = [];
  for (const schedule of await schedules.list(warn)) views.push(await viewOf(place, schedule));
  const daemon = await schedules.daemon();
  terminal.result(
    {
      schedules: views.map(scheduleDocument),
      daemon: daemon === undefined ? null : { pid: daemon.pid, host: daemon.host },
    },
    views.length === 0
      ? `There is no schedule in ${store.stateDir} yet. "cqbatch schedule add --help" shows how to add one.`
      : listText(views),
  );
  if (views.length > 0) await sayWhoCarriesOut(place);
  return exitCodes.success;
}

/** `cqbatch schedule show` */
export async function showSchedule(name: string, flags: Flags): Promise<ExitCode> {
  const place = await openPlace(flags);
  const view = await viewOf(place, await place.schedules.load(name));
  place.terminal.result(scheduleDocument(view), scheduleText(view));
  await sayWhoCarriesOut(place);
  return exitCodes.success;
}

/** `cqbatch schedule history` */
export async function scheduleHistory(name: string, flags: Flags): Promise<ExitCode> {
  const place = await openPlace(flags);
  const view = await viewOf(place, await place.schedules.load(name));
  place.terminal.result(historyDocument(view), historyText(view));
  return exitCodes.success;
}

/** `cqbatch schedule pause` */
export function pauseSchedule(name: string, flags: Flags): Promise<ExitCode> {
  return setPaused(name, flags, true);
}

/** `cqbatch schedule unpause` */
export function unpauseSchedule(name: string, flags: Flags): Promise<ExitCode> {
  return setPaused(name, flags, false);
}

async function setPaused(name: string, flags: Flags, paused: boolean): Promise<ExitCode> {
  const place = await openPlace(flags);
  const { terminal, schedules } = place;
  const before = await schedules.load(name);
  const what = paused ? 'paused' : 'unpaused';
  if (before.paused === paused)
    throw usageError('SCHEDULE_STATE', `Schedule ${name} is ${paused ? 'already paused' : 'not paused'}.`);
  const schedule = { ...before, paused, ...changed(what, before.changes, place) };
  await schedules.save(schedule);
  const view = await viewOf(place, schedule);
  const next = paused
    ? `Continue with: cqbatch schedule unpause ${name}`
    : `It is due ${timesText(view.next.slice(0, 3), schedule.tz)}, …`;
  terminal.result(scheduleDocument(view), `Schedule ${name} is ${what}. ${next}`);
  return exitCodes.success;
}

/** `cqbatch schedule trigger` */
export async function triggerSchedule(name: string, flags: Flags): Promise<ExitCode> {
  const place = await openPlace(flags);
  const attribution = attributionOf(place);
  const { terminal, schedules, store } = place;
  const schedule = await schedules.load(name);
  const going = await goingScheduledRun(store, await schedules.state(name));
  if (going !== undefined && schedule.overlap === 'skip')
    throw new BusyError(
      'SCHEDULE_RUNNING',
      `Run ${going} of schedule ${name} is still in progress`,
      'A schedule never has two runs at a time: wait for its end, or replace the schedule with one that has --overlap queue.',
    );
  const at = new Date().toISOString();
  await schedules.saveTrigger(name, { at, ...attribution });
  const when = going === undefined ? 'within a second or two' : `when run ${going} has ended`;
  terminal.result(
    { schedule: name, triggered_at: at, run_in_progress: going ?? null },
    `Schedule ${name} is triggered: a run begins ${when}. "cqbatch schedule history ${name}" shows the result.`,
  );
  await sayWhoCarriesOut(place);
  return exitCodes.success;
}

/** `cqbatch schedule remove` */
export async function removeSchedule(name: string, flags: Flags): Promise<ExitCode> {
  const place = await openPlace(flags);
  const attribution = attributionOf(place);
  const { terminal, schedules, store } = place;
  const { source } = await schedules.load(name);
  if (!(await terminal.agrees(`Remove schedule ${name} and its history?`, flags.yes))) {
    terminal.result({ schedule: name, removed: false }, `Schedule ${name} is unchanged.`);
    return exitCodes.usage;
  }
  const going = await whileNoneBegins(place, name, async () => {
    const run = await goingScheduledRun(store, await schedules.state(name));
    refuseToLeave(source, run);
    await schedules.remove(name, attribution);
    return run;
  });
  const still = going === undefined ? '' : ` Run ${going} continues.`;
  terminal.result(
    { schedule: name, removed: true, run_in_progress: going ?? null },
    `Schedule ${name} is removed.${still}`,
  );
  await warnOfLeftManifests(place, source);
  return exitCodes.success;
}

/** Number of changes kept. */
const mostChanges = 50;

/** A change by a user, and a new random key for the schedule. */
export function changed(
  what: Schedule['changes'][number]['what'],
  before: Schedule['changes'],
  place: Place,
): Pick<Schedule, 'key' | 'since' | 'changes'> {
  const at = new Date().toISOString();
  const changes = [...before, { what, at, ...attributionOf(place) }].slice(-mostChanges);
  return { key: randomUUID().slice(0, 8), since: at, changes };
}

/** Daemons lock a schedule for a moment every half minute; starting a run may take minutes. */
const patienceMs = 2_000;

/** Does work that must not overlap with the start of a run. @throws a busy error while a run starts */
export async function whileNoneBegins<Result>(
  { schedules }: Place,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  let busy: Error | undefined;
  const lock = await poll(patienceMs, () =>
    schedules.lock(name).catch((error: Error) => {
      if (!(error instanceof BusyError)) throw error;
      busy = error;
      return undefined;
    }),
  );
  if (lock === undefined) throw busy;
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** @throws a busy error when no process would archive the manifest of a run in progress */
export function refuseToLeave(source: Schedule['source'], going: string | undefined): void {
  if (!('inbox' in source) || going === undefined) return;
  throw new BusyError(
    'SCHEDULE_RUNNING',
    `Run ${going} of ${source.inbox} is still in progress, and its manifest would stay in running/`,
    'Pause the schedule, and wait for the end of the run or cancel it.',
  );
}

/** Warns of manifests that stay in `running/` because no schedule takes care of their inbox any more. */
export async function warnOfLeftManifests(
  { terminal, schedules, store }: Pick<Place, 'terminal' | 'schedules' | 'store'>,
  source: Schedule['source'],
): Promise<void> {
  if (!('inbox' in source)) return;
  const others = await schedules.list(() => {});
  if (others.some((other) => isDeepStrictEqual(other.source, source))) return;
  try {
    const inbox = await Inbox.open({ path: source.inbox, store, settleMs: 0 });
    const left = await inbox.unfinished();
    if (left.length === 0) return;
    const names = left.map(({ name, run }) => `${escapeInvisible(name)} (run ${run})`).join(', ');
    terminal.warn(
      `warning: no schedule takes care of ${join(inbox.folder, 'running')} any more: ${names}. To finish it, type: ` +
        `cqbatch watch ${shellWord(source.inbox)} --once`,
    );
  } catch (error) {
    terminal.warn(`warning: ${(error as Error).message}`);
  }
}

const shownTimes = 5;

export async function viewOf({ schedules, store }: Place, schedule: Schedule): Promise<ScheduleView> {
  const state = await schedules.state(schedule.name);
  const times = await timesOf(schedule);
  const next = nextTimes(times, new Date(), shownTimes);
  const runs = new Map(
    await Promise.all(
      state.history.flatMap((entry) =>
        (entry.result === 'began' ? entry.runs : []).map(async (id) => {
          const record = await store.load(id).catch(() => undefined);
          const known = record && (await progressOf(store, record).catch(() => undefined));
          return [id, record && { state: actualState(record), counts: known?.outcomes }] as const;
        }),
      ),
    ),
  );
  const triggered = await schedules.trigger(schedule.name);
  return { schedule, state, next: schedule.paused ? [] : next, triggered, run: (id) => runs.get(id) };
}

/** Warns if no daemon is running. */
export async function sayWhoCarriesOut({
  terminal,
  schedules,
}: Pick<Place, 'terminal' | 'schedules'>): Promise<void> {
  if ((await schedules.daemon()) !== undefined) return;
  terminal.say('warning: no daemon is running: start one here with "cqbatch worker --coordinate".');
}
