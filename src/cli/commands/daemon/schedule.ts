import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { lockPatiently } from '../../../base/disk/lock.ts';
import { BusyError, usageError } from '../../../base/errors/errors.ts';
import { shellWord } from '../../../base/text/command-words.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
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

export interface ScheduleContext extends CommandContext {
  readonly schedules: ScheduleStore;
}

export async function openScheduleContext(flags: Flags): Promise<ScheduleContext> {
  const context = await openCommandContext(flags);
  return { ...context, schedules: openScheduleStore(context.store.stateDir) };
}

export async function listSchedules(flags: Flags): Promise<ExitCode> {
  const context = await openScheduleContext(flags);
  const { terminal, schedules, store } = context;
  const warn = ({ message }: Error): void => terminal.warn(`warning: ${message}`);
  const views: ScheduleView[] = [];
  for (const schedule of await schedules.list(warn)) views.push(await viewOf(context, schedule));
  const daemon = await schedules.daemon();
  terminal.result(
    {
      schedules: views.map(scheduleDocument),
      daemon: daemon === undefined ? null : { pid: daemon.pid, host: daemon.host },
    },
    views.length === 0
      ? `There is no schedule in ${store.stateDir} yet. "cqbatch schedule add --help" shows how to add one.`
      : listText(views, terminal.columns),
  );
  if (views.length > 0) await sayWhoCarriesOut(context);
  return exitCodes.success;
}

export async function showSchedule(name: string, flags: Flags): Promise<ExitCode> {
  const context = await openScheduleContext(flags);
  const view = await viewOf(context, await context.schedules.load(name));
  context.terminal.result(scheduleDocument(view), scheduleText(view));
  await sayWhoCarriesOut(context);
  return exitCodes.success;
}

export async function scheduleHistory(name: string, flags: Flags): Promise<ExitCode> {
  const context = await openScheduleContext(flags);
  const view = await viewOf(context, await context.schedules.load(name));
  context.terminal.result(historyDocument(view), historyText(view));
  return exitCodes.success;
}

export function pauseSchedule(name: string, flags: Flags): Promise<ExitCode> {
  return setPaused(name, flags, true);
}

export function unpauseSchedule(name: string, flags: Flags): Promise<ExitCode> {
  return setPaused(name, flags, false);
}

async function setPaused(name: string, flags: Flags, paused: boolean): Promise<ExitCode> {
  const context = await openScheduleContext(flags);
  const { terminal, schedules } = context;
  const what = paused ? 'paused' : 'unpaused';
  const schedule = await schedules.change(name, (current) => {
    if (current.paused === paused)
      throw usageError('SCHEDULE_STATE', `Schedule ${name} is ${paused ? 'already paused' : 'not paused'}.`);
    return { ...current, paused, ...changeMarks(what, current.changes, context) };
  });
  const view = await viewOf(context, schedule);
  const next = paused
    ? terminal.completed(`Continue with: cqbatch schedule unpause ${name}`)
    : `It is due ${timesText(view.next.slice(0, 3), schedule.tz)}, …`;
  terminal.result(scheduleDocument(view), `Schedule ${name} is ${what}. ${next}`);
  return exitCodes.success;
}

export async function triggerSchedule(name: string, flags: Flags): Promise<ExitCode> {
  const context = await openScheduleContext(flags);
  const attribution = attributionOf(context);
  const { terminal, schedules, store } = context;
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
    terminal.completed(
      `Schedule ${name} is triggered: a run begins ${when}. "cqbatch schedule history ${name}" shows the result.`,
    ),
  );
  await sayWhoCarriesOut(context);
  return exitCodes.success;
}

export async function removeSchedule(name: string, flags: Flags): Promise<ExitCode> {
  const context = await openScheduleContext(flags);
  const attribution = attributionOf(context);
  const { terminal, schedules, store } = context;
  const { source } = await schedules.load(name);
  if (!(await terminal.agrees(`Remove schedule ${name} and its history?`, flags.yes))) {
    terminal.result({ schedule: name, removed: false }, `Schedule ${name} is unchanged.`);
    return exitCodes.usage;
  }
  const going = await withScheduleLock(context, name, async () => {
    const run = await goingScheduledRun(store, await schedules.state(name));
    refuseWhileRunIsOpen(source, run);
    await schedules.remove(name, attribution);
    return run;
  });
  const still = going === undefined ? '' : ` Run ${going} continues.`;
  terminal.result(
    { schedule: name, removed: true, run_in_progress: going ?? null },
    `Schedule ${name} is removed.${still}`,
  );
  await warnOfUnfinishedManifests(context, source);
  return exitCodes.success;
}

const mostChanges = 50;

/** The members of a schedule that each change by a user renews. */
export function changeMarks(
  what: Schedule['changes'][number]['what'],
  earlier: Schedule['changes'],
  context: ScheduleContext,
): Pick<Schedule, 'key' | 'since' | 'changes'> {
  const at = new Date().toISOString();
  const changes = [...earlier, { what, at, ...attributionOf(context) }].slice(-mostChanges);
  return { key: randomUUID().slice(0, 8), since: at, changes };
}

/** How long a command waits for the lock of the schedules: a daemon holds it for a moment, or for minutes while it starts a run. */
const lockWaitMs = 2_000;

/** Changes schedules while no daemon starts a scheduled run. @throws a busy error if one is starting */
export async function withScheduleLock<Result>(
  { schedules }: ScheduleContext,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await lockPatiently(lockWaitMs, () => schedules.lock(name));
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Refuses to leave the manifest of a run in progress in `running/`. @throws a busy error */
export function refuseWhileRunIsOpen(source: Schedule['source'], going: string | undefined): void {
  if (!('inbox' in source) || going === undefined) return;
  throw new BusyError(
    'SCHEDULE_RUNNING',
    `Run ${going} of ${source.inbox} is still in progress, and its manifest would stay in running/`,
    'Pause the schedule, and wait for the end of the run or cancel it.',
  );
}

/** Warns of manifests that would stay in `running/`, because no schedule has their inbox any more. */
export async function warnOfUnfinishedManifests(
  { terminal, schedules, store }: Pick<ScheduleContext, 'terminal' | 'schedules' | 'store'>,
  source: Schedule['source'],
): Promise<void> {
  if (!('inbox' in source)) return;
  const remaining = await schedules.list(() => {});
  if (remaining.some((schedule) => isDeepStrictEqual(schedule.source, source))) return;
  try {
    const inbox = await Inbox.open({ path: source.inbox, store });
    const unfinished = await inbox.unfinishedManifests();
    if (unfinished.length === 0) return;
    const names = unfinished.map(({ name, run }) => `${escapeInvisible(name)} (run ${run})`).join(', ');
    terminal.warn(
      `warning: no schedule takes care of ${join(inbox.folder, 'running')} any more: ${names}. To finish it, type: ` +
        `cqbatch watch ${shellWord(source.inbox)} --once`,
    );
  } catch (error) {
    terminal.warn(`warning: ${(error as Error).message}`);
  }
}

const mostShownTimes = 5;

export async function viewOf(
  { schedules, store }: ScheduleContext,
  schedule: Schedule,
): Promise<ScheduleView> {
  const state = await schedules.state(schedule.name);
  const times = await timesOf(schedule);
  const next = nextTimes(times, new Date(), mostShownTimes);
  const runs = new Map(
    await Promise.all(
      state.history.flatMap((entry) =>
        (entry.result === 'began' ? entry.runs : []).map(async (id) => {
          const record = await store.load(id).catch(() => undefined);
          const progress = record && (await progressOf(store, record).catch(() => undefined));
          return [id, record && { state: actualState(record), counts: progress?.outcomes }] as const;
        }),
      ),
    ),
  );
  const triggered = await schedules.trigger(schedule.name);
  return { schedule, state, next: schedule.paused ? [] : next, triggered, run: (id) => runs.get(id) };
}

export async function sayWhoCarriesOut({
  terminal,
  schedules,
}: Pick<ScheduleContext, 'terminal' | 'schedules'>): Promise<void> {
  if ((await schedules.daemon()) !== undefined) return;
  terminal.say('warning: no daemon is running: start one here with "cqbatch worker --coordinate".');
}
