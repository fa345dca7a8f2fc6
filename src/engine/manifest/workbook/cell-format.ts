import { formatValue } from 'hucre';

/** A number as its format shows it, without commas between digits. Undefined if the shown text lacks digits of the number. */
export function shownNumber(value: number, format: string): string | undefined {
  const shown = formatValue(value, format).trim();
  const numbers = shown.match(/\d[\d,]*(?:\.\d+)?/g) ?? [];
  const held = Math.abs(shown.includes('%') ? value * 100 : value);
  if (numbers.length === 0 || Number(numbers.join('').replaceAll(',', '')) !== Number(held.toPrecision(15)))
    return undefined;
  const plain = shown.replaceAll(',', '');
  return /^-?\d+(?:\.\d+)?$/.test(plain) ? plain : shown;
}

const dayMs = 86_400_000;
/** Day 0 of each of the two systems of dates. */
const epoch1900 = Date.UTC(1899, 11, 31);
const epoch1904 = Date.UTC(1904, 0, 1);
/** The day before the 29 February 1900 of spreadsheets, which did not exist: the library gives 28 February for both. */
const lastRightDay = Date.UTC(1900, 1, 28);

/**
 * A date as ISO 8601, with a time if the format shows one; a time or duration as the format shows it. Undefined for what a spreadsheet
 * can't show, and for dates before March 1900. There are no time zones.
 */
export function shownTime(date: Date, format: string, is1904: boolean): string | undefined {
  const ms = date.getTime() - (is1904 ? epoch1904 : epoch1900);
  const isLater = is1904 || date.getTime() >= lastRightDay + dayMs;
  if (ms < 0 || (!isLater && date.getTime() >= lastRightDay)) return undefined;
  const [section = ''] = format.split(';');
  const isElapsed = /\[(?:h+|m+|s+)\]/i.test(section);
  const signs = section.replace(/"[^"]*"|\\.|\[[^\]]*\]|[_*]./g, '');
  if (!/[yd]|mmm/i.test(signs)) {
    // The time gets 0.1 ms more, because the library rounds down: an hour that is held as a bit less would become the hour before.
    return formatValue((ms + (isLater && !is1904 ? dayMs : 0) + 0.1) / dayMs, section).trim();
  }
  if (isElapsed || !isLater) return undefined;
  const text = date.toISOString();
  return /[hs]/i.test(signs)
    ? text.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)
    : text.slice(0, 'yyyy-mm-dd'.length);
}
