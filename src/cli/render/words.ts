/** Small pieces of text for people. */

import { type OutcomeCounts, outcomes } from '../../domain.ts';
import { zoneText } from '../../text/local-time.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { count, counted } from '../../text/quantities.ts';
import { styleOf } from './chart.ts';
import { styled, widthOf } from './style.ts';

/** `4,480 succeeded`, `32 failed`, one text for each outcome that occurs */
export function outcomeTexts(counts: OutcomeCounts): readonly string[] {
  return outcomes
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => styled(styleOf[outcome], `${count(counts[outcome])} ${outcome.replace('_', ' ')}`));
}

/** `3 rows that may have been processed unseen` */
export function unclearRows(rows: number): string {
  return `${counted(rows, 'row')} that may have been processed unseen`;
}

/**
 * Time of day here, with the day when it is another one: `14:05 UTC+1`, `22 Nov 00:00 UTC`. By hand, because loading the rules of all languages delays
 * the start of every command.
 */
export function clockTime(date: Date, now = new Date()): string {
  // As `Sun Nov 22 2026` and `14:05:33 GMT+0100 (…)`, in any language.
  const time = `${date.toTimeString().slice(0, 5)} ${zoneText(date)}`;
  if (date.toDateString() === now.toDateString()) return time;
  const [, month, day] = date.toDateString().split(' ');
  return `${Number(day)} ${month} ${time}`;
}

/** `12 bytes`, `340 kB`, `1.2 GB` */
export function size(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  if (power === 0) return counted(bytes, 'byte');
  const value = bytes / 1_000 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${['', 'kB', 'MB', 'GB', 'TB'][power]}`;
}

/** Enough of a SHA-256 to be compared by eye. */
export function fingerprint(sha256: string): string {
  return sha256.slice(0, 16).replace(/.{4}(?=.)/g, '$& ');
}

/** Lines below each other, each moved in by two blanks. */
export function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

/** A text of any kind on lines of so many columns, broken at blanks where there are any. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of escapeInvisible(text).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
    for (; line.length > width; line = line.slice(width)) lines.push(line.slice(0, width));
  }
  return [...lines, line];
}

/** Columns below each other, each cell on one line; numbers to the right. */
export function table(
  cells: readonly (readonly string[])[],
  rightAligned: readonly number[] = [],
): readonly string[] {
  const rows = cells.map((row) => row.map(escapeInvisible));
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const blanks = ' '.repeat((widths[column] ?? 0) - widthOf(cell));
        return rightAligned.includes(column) ? blanks + cell : cell + blanks;
      })
      .join('  ')
      .trimEnd(),
  );
}
