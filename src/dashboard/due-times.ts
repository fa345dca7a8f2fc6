import { timesOf } from '../schedule/times.ts';
import { calendarMs, slotMs } from './page-data.ts';

type Timed = Parameters<typeof timesOf>[0];

/**
 * When schedules are due in the next 24 hours. Only the first time of each slot is kept, so a schedule that is due every second
 * fills its day with as few times as one that is due every five minutes.
 */
export class DueTimes {
  /** Reading a day of a busy pattern takes a while, and it is the same until the next slot. */
  #known = new Map<string, readonly string[]>();
  #from = 0;

  /** @param now milliseconds since 1970 */
  async of(schedule: Timed, now: number): Promise<readonly string[]> {
    const from = slotOf(now);
    if (from !== this.#from) this.#known = new Map();
    this.#from = from;
    const key = `${schedule.tz} ${schedule.cron}`;
    const times = this.#known.get(key) ?? (await readDay(schedule, from));
    if (from === this.#from) this.#known.set(key, times);
    return times;
  }
}

/** @param from the start of a slot */
async function readDay(schedule: Timed, from: number): Promise<readonly string[]> {
  const times = await timesOf(schedule);
  const found: string[] = [];
  // One more slot than a day has: the page shows a whole day until the slot of now has ended.
  const end = from + calendarMs + slotMs;
  let due = times.next(new Date(from - 1));
  while (due !== undefined && due.getTime() < end) {
    found.push(due.toISOString());
    due = times.next(new Date(slotOf(due.getTime()) + slotMs - 1));
  }
  return found;
}

function slotOf(time: number): number {
  return time - (time % slotMs);
}
