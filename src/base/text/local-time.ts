import { duration } from './format.ts';

/** The reader's time zone at that time: `UTC`, `UTC+1`, `UTC-3:30`. */
export function zoneText(date: Pick<Date, 'getTimezoneOffset'>): string {
  const offset = date.getTimezoneOffset();
  if (offset === 0) return 'UTC';
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `UTC${offset < 0 ? '+' : '-'}${hours}${minutes === 0 ? '' : `:${String(minutes).padStart(2, '0')}`}`;
}

/** `2026-11-22 10:15:04 UTC+1`, in the reader's time zone. Empty for an invalid time. */
export function localTime(time: string | number, digits: 0 | 3 = 0): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  const iso = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return `${iso.slice(0, digits === 0 ? 19 : 23).replace('T', ' ')} ${zoneText(date)}`;
}

/** `14:05 UTC+1`, with the date unless it is today: `22 Nov 00:00 UTC`. The data of `Intl` would delay every start. */
export function clockTime(date: Date, now = new Date()): string {
  const time = `${timeOfDay(date)} ${zoneText(date)}`;
  return date.toDateString() === now.toDateString() ? time : `${dayAndMonth(date)} ${time}`;
}

// These texts are the same in any language: `Sun Nov 22 2026` and `14:05:33 GMT+0100 (…)`.
const timeOfDay = (date: Date): string => date.toTimeString().slice(0, 5);

function dayAndMonth(date: Date): string {
  const [, month, day] = date.toDateString().split(' ');
  return `${Number(day)} ${month}`;
}

/** The age or the time: `20 s ago`, `3 min ago`, `today 09:30`, `22 Nov 14:05`, `22 Nov 2025`; in the reader's time zone. */
export function timeAgo(date: Date, now = new Date()): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - date.getTime()) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  const time = timeOfDay(date);
  if (date.toDateString() === now.toDateString()) return `today ${time}`;
  const dayBefore = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (date.toDateString() === dayBefore.toDateString()) return `yesterday ${time}`;
  const year = date.getFullYear();
  return `${dayAndMonth(date)} ${year === now.getFullYear() ? time : year}`;
}

const dayMs = 86_400_000;

/** The time until then: `in 20 s`, `in 3 min`, `in 11 h 57 min`; from a day on the time: `22 Nov 14:05`. */
export function timeAhead(date: Date, now = new Date()): string {
  const ms = Math.max(0, date.getTime() - now.getTime());
  const seconds = Math.floor(ms / 1_000);
  if (ms < dayMs) return `in ${duration(seconds < 60 ? seconds : 60 * Math.floor(seconds / 60))}`;
  return `${dayAndMonth(date)} ${timeOfDay(date)}`;
}
