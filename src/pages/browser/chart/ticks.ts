import { localTime } from '../../../base/text/local-time.ts';

const [minute, hour, day] = [60, 3_600, 86_400] as const;

/** The possible distances between two lines for times, in seconds. */
export const timeSteps: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minute),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hour),
  ...[1, 2, 7, 28].map((days) => days * day),
];

/** The possible distances between two lines for values: 1, 2, 5, 10, … from `10 ** power` on. */
export function valueSteps(power: number): readonly number[] {
  return Array.from({ length: 36 }, (_, index) => {
    const exponent = power + Math.floor(index / 3);
    return Number(`${[1, 2, 5][index % 3]}e${exponent}`);
  });
}

/**
 * Times, in seconds since 1970, as the texts of an axis. A second line has the date, if there are several and it is new, and the
 * zone, if it is new, as it is for the first text.
 */
export function timeTicks(times: readonly number[], step: number): readonly string[] {
  const parts = times.map((time) => localTime(time * 1_000).split(' '));
  const isOneDay = parts.every(([date]) => date === parts[0]?.[0]);
  return parts.map(([date = '', clock = '', zone = ''], index) => {
    const [dateBefore, , zoneBefore] = parts[index - 1] ?? [];
    const text = step >= day ? date : clock.slice(0, step >= minute ? 5 : 8);
    const isNewDate = step < day && !isOneDay && date !== dateBefore;
    const below = [isNewDate && date, zone !== zoneBefore && zone].filter(Boolean).join(' ');
    return below === '' ? text : `${text}\n${below}`;
  });
}
