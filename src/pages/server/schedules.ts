import { usageError } from '../../base/errors/errors.ts';
import { refusedFiles } from '../../daemon/schedule/refused-files.ts';
import type { Schedule, ScheduleState } from '../../daemon/schedule/schedule.ts';
import type { ScheduleStore } from '../../daemon/schedule/store.ts';
import { nextTimes, timesOf } from '../../daemon/schedule/times.ts';
import { withActor } from '../../domain/actor.ts';
import type { ScheduleData } from './page-data.ts';
import { lastOccasions } from './schedule-data.ts';

const shownTimes = 3;

interface KnownSchedule {
  readonly schedule: Schedule;
  readonly state: ScheduleState;
  readonly seenUntil: string | undefined;
}

/** Reads the schedules of a state folder. @param warn gets the errors of damaged ones, which are left out */
export async function readSchedules(
  store: ScheduleStore,
  warn: (error: Error) => void,
): Promise<readonly KnownSchedule[]> {
  const known = (await store.list(warn)).map(async (schedule) => {
    const { name } = schedule;
    return { schedule, state: await store.state(name), seenUntil: await store.seenUntil(name) };
  });
  const read = await Promise.all(known.map((reading) => reading.catch(warn)));
  return read.filter((each) => each !== undefined);
}

/** @param manifests the names of manifests by run */
export async function scheduleData(
  { schedule, state: { history }, seenUntil }: KnownSchedule,
  manifests: ReadonlyMap<string, string>,
): Promise<ScheduleData> {
  const { name, cron, tz, source, paused } = schedule;
  const times = paused ? [] : nextTimes(await timesOf(schedule), new Date(), shownTimes);
  return {
    ...{ name, cron, tz, source, paused },
    ...lastOccasions(history),
    refused: refusedFiles(history, seenUntil, (run) => manifests.get(run)),
    next: times.map((time) => time.toISOString()),
  };
}

/**
 * Writes down that a person has seen which files a schedule has refused until a time, ISO 8601 UTC.
 *
 * @throws a usage error
 */
export async function dismissRefusals(store: ScheduleStore, name: string, until: unknown): Promise<void> {
  await store.load(name);
  if (typeof until !== 'string' || Number.isNaN(Date.parse(until)))
    throw usageError('INVALID_SETTING', 'Give the time: {"until": "2026-11-29T20:18:00.000Z"}.');
  await store.saveSeen(name, { until, ...withActor('on the dashboard') });
}
