import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BusyError, usageError } from '../../errors.ts';
import { Inbox } from '../../inbox/inbox.ts';
import { planSuffix } from '../../run/approved-plan.ts';
import { goesOnByItself } from '../../run/record.ts';
import type { RunStore } from '../../run/store.ts';
import {
  latestRuns,
  overlapRules,
  refuseOtherNames,
  type Schedule,
  type ScheduleState,
} from '../../schedule/schedule.ts';
import { openScheduleStore, type ScheduleStore } from '../../schedule/store.ts';
import { timesOf } from '../../schedule/times.ts';
import { defaultClearToken, type Flags } from '../config/load.ts';
import { orNone, parseChoice, parseLongDuration } from '../config/parsers.ts';
import { openWorkplace, type Workplace } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import {
  historyDocument,
  historyText,
  listText,
  type ScheduleView,
  scheduleDocument,
  scheduleText,
  timesText,
} from '../render/schedule.ts';
import { attributionOf, runOptions } from './options.ts';

/** `cqbatch schedule …`: everything is in the state folder, so that none of it needs the datastore. */
interface Place extends Workplace {
  readonly schedules: ScheduleStore;
}

async function openPlace(flags: Flags): Promise<Place> {
  const workplace = await openWorkplace(flags);
  return { ...workplace, schedules: openScheduleStore(workplace.store.stateDir) };
}

/** `cqbatch schedule add` */
export async function addSchedule(name: string, flags: Flags): Promise<ExitCode> {
  refuseOtherNames(name);
  const place = await openPlace(flags);
  const { terminal, schedules, settings } = place;
  const { cron } = flags;
  if (cron === undefined) throw usageError('INVALID_SETTING', "When? Pass --cron, as --cron '0 2 * * 1-5'.");
  const tz = settings.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  await timesOf({ cron, tz });
  const source = await sourceOf(flags, place.store.stateDir);
  checkOptions(place);
  const before = await schedules.look(name);
  const what: Schedule['changes'][number]['what'] =
    flags.replace && before !== undefined ? 'replaced' : 'added';
  const at = new Date().toISOString();
  const schedule: Schedule = {
    version: 1,
    name,
    key: newKey(),
    cron: cron.trim().replace(/\s+/g, ' '),
    tz,
    source,
    options: await givenOptions(flags),
    overlap: parsed('--overlap', flags.overlap ?? 'skip', parseChoice(overlapRules)),
    catchUpMs: parsed('--catch-up', flags.catchUp ?? '1h', orNone(parseLongDuration)),
    paused: what === 'replaced' && before?.paused === true,
    since: at,
    changes: [...(before?.changes ?? []), { what, at, ...attributionOf(flags) }].slice(-mostChanges),
  };
  if (before !== undefined && !isDeepStrictEqual(before.source, source))
    refuseToLeave(before.source, await goingRun(place.store, await schedules.state(name)));
  if (what === 'replaced') await schedules.save(schedule);
  else await schedules.add(schedule);
  if (settings.baseUrl === undefined)
    terminal.warn(
      'warning: the daemon has to be told where the API is: CQBATCH_BASE_URL, or --base-url here.',
    );
  if ('manifest' in source && (await stat(source.manifest).catch(() => undefined)) === undefined)
    terminal.warn(`warning: ${source.manifest} is not there yet.`);
  const view = await viewOf(place, schedule);
  const paused = schedule.paused ? ' It is paused.' : '';
  terminal.result(
    scheduleDocument(view),
    `Schedule ${name} is ${what}.${paused} It is due ${timesText(view.next.slice(0, 3), schedule.tz)}, … (${schedule.tz}).`,
  );
  await sayWhoCarriesOut(place);
  return exitCodes.success;
}

const mostChanges = 50;

function newKey(): string {
  return randomUUID().slice(0, 8);
}

function parsed<Value>(flag: string, text: string, parse: (text: string) => Value): Value {
  try {
    return parse(text);
  } catch (error) {
    throw usageError('INVALID_SETTING', `${flag} "${text}": ${(error as Error).message}.`);
  }
}

/** What runs are made of; the daemon may be in another folder. */
async function sourceOf({ manifest, inbox }: Flags, stateDir: string): Promise<Schedule['source']> {
  if (manifest !== undefined && inbox !== undefined)
    throw usageError('INVALID_SETTING', '--manifest and --inbox: a schedule has one of them.');
  if (inbox !== undefined) {
    // A name without a sign of a pattern is that of a folder, which somebody has forgotten to make.
    if (!(await stat(inbox).catch(() => undefined))?.isDirectory() && !/[*?[{(]/.test(basename(inbox)))
      throw usageError('INBOX_UNUSABLE', `--inbox ${inbox}: there is no such folder. Make it first.`);
    await Inbox.open({ path: inbox, stateDir, settleMs: 0 });
    return { inbox: resolve(inbox) };
  }
  if (manifest === undefined)
    throw usageError('INVALID_SETTING', 'What is to be run? Pass --manifest FILE or --inbox DIR.');
  if (manifest === '-' || manifest.endsWith(planSuffix)) {
    const why =
      manifest === '-' ? 'standard input can be read once' : 'a signed-off plan is carried out once';
    throw usageError(
      'INVALID_SETTING',
      `--manifest ${manifest}: ${why}. Name a file that is written anew for each time.`,
    );
  }
  if ((await stat(manifest).catch(() => undefined))?.isDirectory())
    throw usageError('INVALID_SETTING', `--manifest ${manifest} is a folder: pass it as --inbox.`);
  return { manifest: resolve(manifest) };
}

/** @throws a usage error for run options that can't be understood. Where the API is may be left to the daemon. */
function checkOptions({ settings, ...place }: Place): void {
  // Alone it is the time zone of the schedule.
  const { tz: _, ...flags } = place.flags;
  runOptions({ ...place, flags, settings: { baseUrl: 'https://api.invalid', ...settings } });
}

/** What is said of the schedule, or of this command, and not of its runs. */
const ownFlags: ReadonlySet<string> = new Set<keyof Flags>([
  ...(['cron', 'manifest', 'inbox', 'overlap', 'catchUp', 'replace', 'reason'] as const),
  ...(['json', 'quiet', 'stateDir'] as const),
]);

/** The run options that were given, as they were. */
async function givenOptions({ tz, clearToken, skipDone, ...flags }: Flags): Promise<Schedule['options']> {
  const options = Object.entries(flags).filter(([name]) => !ownFlags.has(name)) as [string, string | true][];
  return {
    ...Object.fromEntries(options),
    ...(clearToken !== undefined && clearToken !== defaultClearToken && { clearToken }),
    ...(skipDone !== undefined && { skipDone: await Promise.all(skipDone.map(absoluteIfFile)) }),
    ...(tz !== undefined && flags.stopAt !== undefined && { tz }),
  };
}

/** A run has a name, a report a path. */
async function absoluteIfFile(name: string): Promise<string> {
  return (await stat(name).catch(() => undefined))?.isFile() ? resolve(name) : name;
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
    throw usageError('SCHEDULE_STATE', `Schedule ${name} is ${paused ? 'paused already' : 'not paused'}.`);
  const at = new Date().toISOString();
  const schedule = {
    ...before,
    key: newKey(),
    paused,
    since: at,
    changes: [...before.changes, { what, at, ...attributionOf(flags) } as const].slice(-mostChanges),
  };
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
  const going = await goingRun(store, await schedules.state(name));
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
  const { terminal, schedules, store } = await openPlace(flags);
  const { source } = await schedules.load(name);
  const going = await goingRun(store, await schedules.state(name));
  refuseToLeave(source, going);
  await schedules.remove(name);
  const still = going === undefined ? '' : ` Run ${going} goes on.`;
  terminal.result(
    { schedule: name, removed: true, going: going ?? null },
    `Schedule ${name} is removed.${still}`,
  );
  return exitCodes.success;
}

/** @throws a busy error when nobody would put the manifest of a run that is going where it belongs. */
function refuseToLeave(source: Schedule['source'], going: string | undefined): void {
  if (!('inbox' in source) || going === undefined) return;
  throw new BusyError(
    'SCHEDULE_RUNNING',
    `Run ${going} of ${source.inbox} is still going, and its manifest would stay in running/`,
    'Pause the schedule, and wait for the end of the run or cancel it.',
  );
}

const shownTimes = 5;

async function viewOf({ schedules, store }: Place, schedule: Schedule): Promise<ScheduleView> {
  const state = await schedules.state(schedule.name);
  const times = await timesOf(schedule);
  const next: Date[] = [];
  for (let at = times.next(new Date()); at !== undefined && next.length < shownTimes; at = times.next(at))
    next.push(at);
  const runs = new Map(
    await Promise.all(
      state.history.flatMap((entry) =>
        (entry.came === 'began' ? entry.runs : []).map(async (id) => {
          const record = await store.look(id).catch(() => undefined);
          return [id, record === 'being planned' ? undefined : record] as const;
        }),
      ),
    ),
  );
  const triggered = await schedules.trigger(schedule.name);
  return { schedule, state, next: schedule.paused ? [] : next, triggered, run: (id) => runs.get(id) };
}

/** The run of a schedule that has not ended. */
async function goingRun(store: RunStore, state: ScheduleState): Promise<string | undefined> {
  for (const id of latestRuns(state)) {
    const record = await store.look(id);
    if (record !== undefined && (record === 'being planned' || goesOnByItself(record))) return id;
  }
  return undefined;
}

/** Schedules alone do nothing. */
async function sayWhoCarriesOut({ terminal, schedules }: Place): Promise<void> {
  if ((await schedules.daemon()) !== undefined) return;
  terminal.say(
    'warning: nobody carries schedules out at the moment: start "cqbatch worker --coordinate" here.',
  );
}
