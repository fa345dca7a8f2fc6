import { count, counted } from '../../base/text/format.ts';
import { type OutcomeCounts, totalOf } from '../../domain/terms.ts';
import { type ProgressPhrase, progressPhrases } from '../../engine/run/facts/progress-words.ts';
import type { RunProgress } from '../../engine/run/facts/run-facts.ts';
import type { CanaryResults } from '../../engine/run/work/canary.ts';
import { styled, widthOf } from './style.ts';
import { outcomeChart } from './summary.ts';
import { indentedText, moreText, styledOutcome, styleOf, table } from './words.ts';

/**
 * The progress of a run in this terminal: figures and waits in one line, then a line for each note.
 *
 * @param columns of the screen, for a bar; undefined leaves the bar out
 */
export function progressLines(run: RunProgress, columns?: number, now = Date.now()): readonly string[] {
  const bar = columns === undefined ? '' : `${progressBar(run.counts, run.rows, Math.floor(columns / 6))}  `;
  const [line = '', ...notes] = phraseLines(run, now);
  const isAway = run.wait?.of === 'api' && run.pace?.away;
  return [
    bar + line,
    ...(isAway ? notes.map((note) => `${note} ${styled('yellow', 'Ctrl-C loses nothing.')}`) : notes),
  ];
}

/** The progress as lines: the figures and a short wait on the first, then a line for each note. */
export function phraseLines(run: RunProgress, now = Date.now()): readonly string[] {
  const phrases = progressPhrases(run, now);
  const line = phrases.filter(({ kind }) => kind !== 'note').map((phrase) => styledParts(phrase).join(', '));
  return [line.join('  '), ...phrases.filter(({ kind }) => kind === 'note').flatMap(styledParts)];
}

/** The parts of a phrase, each in its color. */
export function styledParts({ kind, parts }: ProgressPhrase): readonly string[] {
  return parts.map(({ text, outcome }) => {
    if (outcome !== undefined) return styled(styleOf[outcome], text);
    return kind === 'figure' ? text : styled('yellow', text);
  });
}

/** A bar of outcomes, which is empty where rows are still to be called. */
function progressBar(counts: OutcomeCounts, rows: number, columns: number): string {
  const part = rows === 0 ? 0 : Math.floor((totalOf(counts) / rows) * columns);
  const kinds = Object.values(counts).filter((count) => count > 0).length;
  const done = outcomeChart(counts, Math.max(part, kinds));
  return done + styled('dim', '·'.repeat(Math.max(0, columns - widthOf(done))));
}

const maxRows = 30;

/** The rows of a canary. Failed rows come first if not all rows can be shown. */
export function canaryText({ rows, failedRows }: CanaryResults): string {
  const shown =
    rows.length <= maxRows
      ? rows
      : rows.toSorted(
          (a, b) => Number(b.result.outcome === 'failed') - Number(a.result.outcome === 'failed'),
        );
  const lines = table(
    [
      ['row', 'identifier', 'outcome', 'code', 'message'],
      ...shown
        .slice(0, maxRows)
        .map(({ result, subject }) => [
          count(result.row),
          subject,
          styledOutcome(result.outcome),
          result.code,
          result.message,
        ]),
    ],
    [0],
  );
  const more = rows.length - maxRows;
  return [
    `Canary: ${counted(rows.length, 'row')}, ${count(failedRows)} failed`,
    indentedText(lines),
    ...(more > 0 ? [`  ${moreText(more, 'row')}`] : []),
  ].join('\n');
}
