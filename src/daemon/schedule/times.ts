import { usageError } from '../../base/errors/errors.ts';
import type { Schedule } from './schedule.ts';

export interface Times {
  /** The next time of the pattern after a moment, if any. */
  nextAfter(after: Date): Date | undefined;
  /** The latest time of the pattern up to and including a moment, if any. */
  latestUntil(until: Date): Date | undefined;
}

/** Patterns are kept once read: a daemon reads the same patterns every second. */
const cache = new Map<string, Times>();

/**
 * When the clock of the time zone changes, numeric times of day (`30 1 * * *`, `0,30 1,13 * * *`) come once a day: in the gap at its end,
 * and of two times the first. Repetitions (`*`, a step, a range) follow the wall clock: they skip the gap, and repeat in a repeated hour.
 * Days that a month lacks are skipped.
 *
 * @throws a usage error `INVALID_CRON` for a pattern that is invalid or never comes
 */
export async function timesOf({ cron, tz }: Pick<Schedule, 'cron' | 'tz'>): Promise<Times> {
  const key = `${tz} ${cron}`;
  const times = cache.get(key) ?? (await readPattern(cron, tz));
  cache.set(key, times);
  return times;
}

async function readPattern(cron: string, tz: string): Promise<Times> {
  const { Cron } = await import('croner');
  const patterns = timesOfDay(cron).map((pattern) => {
    try {
      return new Cron(pattern, { timezone: tz, paused: true });
    } catch (error) {
      throw invalidCron(cron, (error as Error).message.replace(/^CronPattern: /, ''));
    }
  });
  const times: Times = {
    nextAfter: (after) => inOrder(patterns.flatMap((each) => each.nextRun(after) ?? [])).at(0),
    latestUntil(until) {
      // Croner looks for times before this moment, in whole seconds.
      const nextSecond = new Date((Math.floor(until.getTime() / 1_000) + 1) * 1_000);
      return inOrder(patterns.flatMap((each) => each.previousRuns(1, nextSecond))).at(-1);
    },
  };
  if (times.nextAfter(new Date()) === undefined) throw invalidCron(cron, 'it never occurs');
  return times;
}

export function nextTimes(times: Times, after: Date, most: number): readonly Date[] {
  const next: Date[] = [];
  for (let at = times.nextAfter(after); at !== undefined && next.length < most; at = times.nextAfter(at))
    next.push(at);
  return next;
}

function invalidCron(cron: string, why: string): Error {
  return usageError(
    'INVALID_CRON',
    `--cron "${cron}": ${why}. Write minute, hour, day of month, month and day of week, such as "0 2 * * 1-5" for 02:00 from Monday ` +
      'to Friday.',
  );
}

/** The longest list of numbers that is read: users do not write longer lists. */
const mostTimesOfDay = 100;

/** Undivided if the pattern has parts that are not numeric. */
function timesOfDay(cron: string): readonly string[] {
  const fields = cron.trim().split(/\s+/);
  if (fields.length > 6) throw invalidCron(cron, 'it has more than six fields');
  if (fields.length < 5) {
    if (fields[0]?.startsWith('@')) return [cron.trim()];
    throw invalidCron(
      cron,
      `it has ${fields.length === 1 ? 'one field' : `${fields.length} fields`}, not five`,
    );
  }
  const [second, minute, hour, ...days] = fields.length === 6 ? fields : ['0', ...fields];
  const lists = [second, minute, hour].map((field = '') =>
    /^\d+(,\d+)*$/.test(field) ? field.split(',') : [],
  );
  const combinations = lists.reduce<readonly string[]>(
    (prefixes, list) => prefixes.flatMap((prefix) => list.map((each) => `${prefix} ${each}`)),
    [''],
  );
  if (combinations.length === 0 || combinations.length > mostTimesOfDay) return [cron.trim()];
  return combinations.map((time) => [time.trim(), ...days].join(' '));
}

function inOrder(dates: readonly Date[]): readonly Date[] {
  return dates.toSorted((a, b) => a.getTime() - b.getTime());
}
