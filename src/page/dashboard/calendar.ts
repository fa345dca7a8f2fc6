import { calendarMs, type ScheduleData, slotMs } from '../../dashboard/page-data.ts';
import { localTime, zoneText } from '../../text/local-time.ts';
import { element } from '../dom.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Shares of the day at whose ends the time of an hour has no room, beside "now" and before the edge. */
const labeled = { from: 0.09, to: 0.9 };

/**
 * The next 24 hours of each schedule, from now on the left, in the reader's time zone. Screen readers skip it: the table below
 * has the next times in words.
 */
export function calendar(schedules: readonly ScheduleData[], now: number): HTMLElement {
  // Whole minutes, so that the drawing stays the same until there is something to see.
  const from = now - (now % minuteMs);
  const hours = hoursAfter(from);
  return element(
    'div',
    { class: 'calendar', 'aria-hidden': 'true' },
    element('span', { class: 'quiet' }, `Next 24 hours, ${zoneText(new Date(from))}`),
    element('div', { class: 'hours' }, element('span', 'now'), hourLabels(hours, from)),
    schedules.map((schedule) => [
      element('span', { class: 'name' }, schedule.name),
      strip(schedule, hours, from),
    ]),
  );
}

/** The hours on the reader's clock. */
function hoursAfter(from: number): readonly Date[] {
  const hour = new Date(from);
  hour.setMinutes(0, 0, 0);
  return Array.from({ length: 24 }, (_, index) => new Date(hour.getTime() + (index + 1) * hourMs));
}

function hourLabels(hours: readonly Date[], from: number): readonly HTMLElement[] {
  return hours
    .filter((hour) => {
      const share = (hour.getTime() - from) / calendarMs;
      return hour.getHours() % 3 === 0 && share > labeled.from && share < labeled.to;
    })
    .map((hour) => {
      const text = `${String(hour.getHours()).padStart(2, '0')}:00`;
      const label = element('span', hour.getHours() % 6 === 0 ? {} : { class: 'between' }, text);
      return placed(label, hour.getTime(), from);
    });
}

function strip({ paused, day, next }: ScheduleData, hours: readonly Date[], from: number): HTMLElement {
  const ticks = hours.map((hour) => placed(element('i'), hour.getTime(), from));
  // The next time, too: it may be in the slot of now, after a first time that has passed.
  const marks = [...new Set([...next.slice(0, 1), ...day])]
    .filter((due) => Date.parse(due) >= from && Date.parse(due) < from + calendarMs)
    .map((due) => {
      const mark = element('b', { title: localTime(due) });
      // Marks of neighboring slots overlap, so that they make a band without gaps.
      mark.style.width = `calc(${percent(slotMs / calendarMs)} + 1px)`;
      return placed(mark, Math.max(from, Date.parse(due) - (Date.parse(due) % slotMs)), from);
    });
  const later = next[0] === undefined ? 'never' : `next ${localTime(next[0])}`;
  const words = paused ? 'paused' : marks.length === 0 && later;
  return element(
    'div',
    { class: paused ? 'day paused' : 'day' },
    ticks,
    marks,
    words && element('span', words),
  );
}

function placed(made: HTMLElement, time: number, from: number): HTMLElement {
  made.style.left = percent((time - from) / calendarMs);
  return made;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(3)}%`;
}
