import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BusyError } from '../../../errors.ts';
import {
  actualState,
  Inbox,
  nextTimes,
  openScheduleStore,
  progressOf,
  type Schedule,
  type ScheduleStore,
  timesOf,
} from '../../../index.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { shellWord } from '../../../text/shell-word.ts';
import { firstSeen } from '../../../waiting.ts';
import type { Flags } from '../../config/load.ts';
import { openWorkplace, type Workplace } from '../../context.ts';
import type { ScheduleView } from '../../render/schedule.ts';
import { attributionOf } from '../options.ts';

/** `cqbatch schedule …`: everything is in the state folder, so that none of it needs the datastore. */
export interface Place extends Workplace {
  readonly schedules: ScheduleStore;
}

export async function openPlace(flags: Flags): Promise<Place> {
  const workplace = await openWorkplace(flags);
  return { ...workplace, schedules: openScheduleStore(workplace.store.stateDir) };
}

/** What users did to a schedule is kept so far back. */
const mostChanges = 50;

/** What a user does to a schedule now, and a key that tells it from what it was before. */
export function changed(
  what: Schedule['changes'][number]['what'],
  before: Schedule['changes'],
  flags: Flags,
): Pick<Schedule, 'key' | 'since' | 'changes'> {
  const at = new Date().toISOString();
  const changes = [...before, { what, at, ...attributionOf(flags) }].slice(-mostChanges);
  return { key: randomUUID().slice(0, 8), since: at, changes };
}

/** Daemons look at a schedule for a moment every half minute; beginning a run may take minutes. */
const patienceMs = 2_000;

/** Does what must not happen while a run of a schedule begins. @throws a busy error when one does. */
export async function whileNoneBegins<Result>(
  { schedules }: Place,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  let busy: Error | undefined;
  const lock = await firstSeen(patienceMs, () =>
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

/** @throws a busy error when nobody would put the manifest of a run that is going where it belongs. */
export function refuseToLeave(source: Schedule['source'], going: string | undefined): void {
  if (!('inbox' in source) || going === undefined) return;
  throw new BusyError(
    'SCHEDULE_RUNNING',
    `Run ${going} of ${source.inbox} is still going, and its manifest would stay in running/`,
    'Pause the schedule, and wait for the end of the run or cancel it.',
  );
}

/** Tells which manifests stay in `running/` when no schedule looks after their inbox any more. */
export async function warnOfLeftManifests(
  { terminal, schedules, store }: Pick<Place, 'terminal' | 'schedules' | 'store'>,
  source: Schedule['source'],
): Promise<void> {
  if (!('inbox' in source)) return;
  const others = await schedules.list(() => {});
  if (others.some((other) => isDeepStrictEqual(other.source, source))) return;
  try {
    const inbox = await Inbox.open({ path: source.inbox, stateDir: store.stateDir, settleMs: 0 });
    const left = await inbox.unfinished();
    if (left.length === 0) return;
    const names = left.map(({ name, run }) => `${escapeInvisible(name)} (run ${run})`).join(', ');
    terminal.warn(
      `warning: No schedule finishes what is in ${join(inbox.folder, 'running')} any more: ${names}. To finish it, type: ` +
        `cqbatch run ${shellWord(source.inbox)} --once`,
    );
  } catch (error) {
    terminal.warn(`warning: ${(error as Error).message}`);
  }
}

const shownTimes = 5;

/** All that is shown of a schedule. */
export async function viewOf({ schedules, store }: Place, schedule: Schedule): Promise<ScheduleView> {
  const state = await schedules.state(schedule.name);
  const times = await timesOf(schedule);
  const next = nextTimes(times, new Date(), shownTimes);
  const runs = new Map(
    await Promise.all(
      state.history.flatMap((entry) =>
        (entry.came === 'began' ? entry.runs : []).map(async (id) => {
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

/** Schedules alone do nothing. */
export async function sayWhoCarriesOut({ terminal, schedules }: Place): Promise<void> {
  if ((await schedules.daemon()) !== undefined) return;
  terminal.say(
    'warning: nobody carries schedules out at the moment: start "cqbatch worker --coordinate" here.',
  );
}
