import { BusyError, usageError } from '../../../errors.ts';
import { goingScheduledRun } from '../../../index.ts';
import type { Flags } from '../../config/load.ts';
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
import {
  changed,
  openPlace,
  refuseToLeave,
  sayWhoCarriesOut,
  viewOf,
  warnOfLeftManifests,
  whileNoneBegins,
} from './schedule-place.ts';

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
    throw usageError('SCHEDULE_STATE', `Schedule ${name} is ${paused ? 'paused already' : 'not paused'}.`);
  const schedule = { ...before, paused, ...changed(what, before.changes, flags) };
  await schedules.save(schedule);
  const view = await viewOf(place, schedule);
  const next = paused
    ? `Go on with: cqbatch schedule unpause ${name}`
    : `It is due ${timesText(view.next.slice(0, 3), schedule.tz)}, …`;
  terminal.result(scheduleDocument(view), `Schedule ${name} is ${what}. ${next}`);
  return exitCodes.success;
}

/** `cqbatch schedule trigger` */
export async function triggerSchedule(name: string, flags: Flags): Promise<ExitCode> {
  const attribution = attributionOf(flags);
  const place = await openPlace(flags);
  const { terminal, schedules, store } = place;
  const schedule = await schedules.load(name);
  const going = await goingScheduledRun(store, await schedules.state(name));
  if (going !== undefined && schedule.overlap === 'skip')
    throw new BusyError(
      'SCHEDULE_RUNNING',
      `Run ${going} of schedule ${name} is still going`,
      'Two at a time are never begun: wait for its end, or replace the schedule with one that has --overlap queue.',
    );
  const at = new Date().toISOString();
  await schedules.saveTrigger(name, { at, ...attribution });
  const when = going === undefined ? 'within a second or two' : `when run ${going} has ended`;
  terminal.result(
    { schedule: name, triggered_at: at, going: going ?? null },
    `Schedule ${name} is triggered: a run begins ${when}. "cqbatch schedule history ${name}" tells what came of it.`,
  );
  await sayWhoCarriesOut(place);
  return exitCodes.success;
}

/** `cqbatch schedule remove` */
export async function removeSchedule(name: string, flags: Flags): Promise<ExitCode> {
  const place = await openPlace(flags);
  const { terminal, schedules, store } = place;
  const { source } = await schedules.load(name);
  const going = await whileNoneBegins(place, name, async () => {
    const run = await goingScheduledRun(store, await schedules.state(name));
    refuseToLeave(source, run);
    await schedules.remove(name);
    return run;
  });
  const still = going === undefined ? '' : ` Run ${going} goes on.`;
  terminal.result(
    { schedule: name, removed: true, going: going ?? null },
    `Schedule ${name} is removed.${still}`,
  );
  await warnOfLeftManifests(place, source);
  return exitCodes.success;
}
