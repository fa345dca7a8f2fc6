import { count, counted, perSecond } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { type Outcome, type OutcomeCounts, outcomes, outcomeText, wentWrong } from '../../domain/terms.ts';
import type { CodeCount } from '../../engine/journal/state.ts';
import type { RunSummary } from '../../engine/report/summary.ts';
import { type EndFacts, endFactsOf, endInWords, type StoredEnd } from '../../engine/run/record/ending.ts';
import { nameInWords } from '../../settings/settings.ts';
import { type Style, styled, widthOf } from './style.ts';

export const styleOf: Readonly<Record<Outcome, Style>> = {
  succeeded: 'green',
  failed: 'red',
  invalid: 'red',
  duplicate: 'dim',
  skipped: 'dim',
  not_attempted: 'yellow',
  pending: 'yellow',
};

const styleOfState: Readonly<Record<string, Style | undefined>> = {
  planned: 'yellow',
  submitted: 'yellow',
  running: 'green',
  paused: 'yellow',
};

/**
 * A state in its color.
 *
 * @param state which another version may have written
 * @param text the state in words
 */
export function styledState(state: string, text = state): string {
  const ending = endFactsOf({ state });
  const style = ending === undefined ? styleOfState[state] : styleOfEnding(ending);
  return style === undefined ? text : styled(style, text);
}

/** The state of a run, in words and color. A completed run with unclear rows needs a look. */
export function styledRunState(
  run: StoredEnd & { readonly local?: { readonly unclear?: number | undefined } | undefined },
): string {
  const words = endInWords(run);
  return run.local?.unclear && run.state === 'completed'
    ? styled('yellow', words)
    : styledState(run.state, words);
}

export function styleOfEnding({ manner, result }: EndFacts): Style {
  if (wentWrong(manner)) return 'red';
  return result === 'succeeded' ? 'green' : 'yellow';
}

/** Why a run ended: `Halted: 4 of 4 rows failed.` Undefined where nothing but a user's wish ended the run. */
export function reasonText(end: StoredEnd, reason: string | undefined): string | undefined {
  const ending = endFactsOf(end);
  if (reason === undefined || ending?.heading === undefined) return undefined;
  return `${styled(styleOfEnding(ending), `${ending.heading}:`)} ${reason.replace(/\.$/, '')}.`;
}

/** An outcome in its color: `succeeded`, `not attempted` */
export function styledOutcome(outcome: Outcome, prefix = ''): string {
  return styled(styleOf[outcome], prefix + outcomeText(outcome));
}

/** The counts of outcomes in their colors: `4,480 succeeded`, `32 failed` */
export function outcomeTexts(counts: OutcomeCounts): readonly string[] {
  return outcomes
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => styledOutcome(outcome, `${count(counts[outcome])} `));
}

/** The results of a run: `0 succeeded, 300 were already done, 2 failed`. Rows found done were not done by this run. */
export function resultTexts({
  outcomes: counts,
  already_done: already,
}: Pick<RunSummary, 'outcomes' | 'already_done'>): readonly string[] {
  if (already === 0) return outcomeTexts(counts);
  const { succeeded, ...others } = counts;
  return [
    styledOutcome('succeeded', `${count(succeeded - already)} `),
    `${count(already)} ${already === 1 ? 'was' : 'were'} already done`,
    ...outcomeTexts({ ...others, succeeded: 0 }),
  ];
}

/** A message as an example: `e.g. row 2: evaluation 50 is not recoverable`. It is about one row, not about all that have its code. */
export function exampleText({
  count: rows,
  message,
  row,
}: Pick<RunSummary['codes'][number], 'count' | 'message' | 'row'>): string {
  return `${rows === 1 ? '' : 'e.g. '}row ${row}${message === '' ? '' : `: ${message}`}`;
}

export function unclearRows(rows: number): string {
  return `${counted(rows, 'row')} unclear: the service may have made the change`;
}

/** The lines about rows that may have been called although their outcome does not say so. */
export function doubtfulRows(unclear: number, codes: readonly CodeCount[]): readonly string[] {
  const pending = codes.find(({ outcome }) => outcome === 'pending')?.count ?? 0;
  const texts = [
    ...(unclear > 0 ? [unclearRows(unclear)] : []),
    ...(pending > 0 ? [pendingRows(pending)] : []),
  ];
  return texts.map((text) => styled('yellow', text));
}

/** The pending rows of a run that has stopped. */
export function pendingRows(rows: number): string {
  return `${counted(rows, 'row')} pending: the datastore knows whether the API was called; resume the run to find out`;
}

/** The rate that is allowed: `unlimited`, `up to 51/s, API limit 50/s` */
export function allowedText(rate: number | undefined, limit: number | undefined): string {
  const allowed = rate === undefined ? 'unlimited' : `up to ${perSecond(rate)}`;
  return limit === undefined ? allowed : `${allowed}, API limit ${perSecond(limit)}`;
}

/** The first digits of a SHA-256, enough to compare by eye. */
export function fingerprint(sha256: string): string {
  return sha256.slice(0, 16).replace(/.{4}(?=.)/g, '$& ');
}

/** The members as JSON documents have them: `startedAt` becomes `started_at`, and undefined values null. */
export function documentOf(members: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [nameInWords(name, '_'), value ?? null]),
  );
}

export function indentedLine(line: string): string {
  return `  ${line}`;
}

export function indentedText(lines: readonly string[]): string {
  return lines.map(indentedLine).join('\n');
}

/** What a list leaves out: `… and 5 more`, `… and 1 more row` */
export function moreText(more: number, noun?: string): string {
  return `… and ${noun === undefined ? `${count(more)} more` : counted(more, `more ${noun}`)}`;
}

/** The width for a screen that reports none, and for text that must fit any screen. */
export const defaultColumns = 80;

/** Wraps a text, at spaces where possible. */
export function wrappedLines(text: string, width: number): readonly string[] {
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

/** A name and what is known under it. Several texts stand below each other; without one, the fact is left out. */
export type Fact = readonly [name: string, known: string | readonly string[] | undefined];

export function factLines(facts: readonly Fact[], columns = Number.POSITIVE_INFINITY): readonly string[] {
  const known = facts.flatMap(([name, texts = []]) =>
    [texts].flat().map((text, index) => [index === 0 ? name : '', text] as const),
  );
  const width = columns - Math.max(...known.map(([name]) => name.length)) - 2;
  return table(
    known.flatMap(([name, text]) =>
      wrappedLines(text, width).map((line, index) => [index === 0 ? name : '', line]),
    ),
  );
}

/** Cells as lines with aligned columns. @param rightAligned the columns with numbers */
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
