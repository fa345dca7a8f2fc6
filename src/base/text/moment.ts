const momentPattern =
  /^(\d{4})(?:([-/.])(\d\d?)\2(\d\d?)|(\d\d)(\d\d))(?:(?:T|\s+)(\d\d|\d(?=:))(?::?([0-5]\d)(?::?([0-5]\d)(?:[.,](\d+))?)?)?\s*(Z|UTC|GMT|[+-]\d\d(?::?[0-5]\d)?)?(?:\[[\w/+-]+\])?)?$/i;

/**
 * Milliseconds since 1970 of a date or time as programs write it: ISO 8601, and forms of databases and spreadsheets that begin with the
 * year. A date means its first moment, without a zone in UTC. Undefined for any other text.
 */
export function readMoment(text: string): number | undefined {
  const [
    match,
    year,
    ,
    month,
    day,
    shortMonth,
    shortDay,
    hour = '0',
    minute = '0',
    second = '0',
    part,
    zone,
  ] = momentPattern.exec(text.trim()) ?? [];
  if (match === undefined || Number(hour) > 23) return undefined;
  const months = Number(month ?? shortMonth);
  const days = Number(day ?? shortDay);
  const date = new Date(0);
  date.setUTCFullYear(Number(year), months - 1, days);
  // 30 February would be a day of March.
  if (date.getUTCMonth() !== months - 1 || date.getUTCDate() !== days) return undefined;
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  return date.getTime() + Number(`0.${part ?? 0}`) * 1_000 - offsetMs(zone);
}

function offsetMs(zone: string | undefined): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '') ?? [];
  if (hours === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Unix times are in seconds or, from 10^12, in milliseconds. */
export function unixTimeMs(number: number): number {
  return number < 1e12 ? number * 1_000 : number;
}
