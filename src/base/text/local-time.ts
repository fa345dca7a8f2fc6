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
  // These texts are the same in any language: `Sun Nov 22 2026` and `14:05:33 GMT+0100 (…)`.
  const time = `${date.toTimeString().slice(0, 5)} ${zoneText(date)}`;
  if (date.toDateString() === now.toDateString()) return time;
  const [, month, day] = date.toDateString().split(' ');
  return `${Number(day)} ${month} ${time}`;
}
