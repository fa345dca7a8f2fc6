import { count, counted } from '../../../base/text/format.ts';
import { type Outcome, type OutcomeCounts, wentWrong } from '../../../domain/terms.ts';
import type { PageData } from './page-data.ts';

/** The last three are of a run in progress. */
export type Tone = 'good' | 'attention' | 'bad' | 'working' | 'paused' | 'waiting';

export interface Verdict {
  readonly tone: Tone;
  /** The verdict in words: `1,394 of 2,000 evaluations restored, 20 more may have been. 184 rows failed, 13 are invalid.` */
  readonly text: string;
}

/** The verdict on a run: whether it worked, and what the reader must do. */
export function verdictOf(data: PageData): Verdict {
  return { tone: toneOf(data), text: [achievedText(data), ...openPointTexts(data)].join(' ') };
}

export const outcomesInNeed: readonly Outcome[] = ['failed', 'invalid'];

export function rowsInNeed({ failed, invalid }: OutcomeCounts): number {
  return failed + invalid;
}

/** The number of rows without a result that the run will not call by itself. */
export function rowsLeft({ run, summary }: Pick<PageData, 'run' | 'summary'>): number {
  const { not_attempted: uncalled, pending } = summary.outcomes;
  return run.phase === 'in progress' ? 0 : uncalled + pending;
}

function toneOf({ run, summary }: PageData): Tone {
  if (run.phase === 'in progress')
    return run.state === 'paused' ? 'paused' : run.state === 'running' ? 'working' : 'waiting';
  const { outcomes, unclear } = summary;
  const need = rowsInNeed(outcomes) + rowsLeft({ run, summary });
  if (wentWrong(run.manner) || (need > 0 && outcomes.succeeded === 0)) return 'bad';
  return run.phase === 'stopped' || run.state === 'cancelled' || need + unclear > 0 ? 'attention' : 'good';
}

function achievedText({ run, summary, operations, messages }: PageData): string {
  const { outcomes, manifest, unclear_failed: doubtful } = summary;
  // A row that stands for another row, or was done before, does not count as an evaluation of its own.
  const wanted = manifest.rows - outcomes.duplicate - outcomes.skipped;
  const [only, ...others] = Object.values(operations);
  const { thing, done = 'succeeded' } = (others.length === 0 && only) || { thing: 'row' };
  const already = messages
    .filter(({ code }) => code === 'ALREADY_APPLIED')
    .reduce((sum, { count: rows, unclear }) => sum + rows - unclear, 0);
  const isUnconfirmed = outcomes.succeeded === 0 && doubtful > 0;
  const what = isUnconfirmed
    ? `none of ${counted(wanted, thing)} confirmed as ${stateOfDone(done)}`
    : already > 0
      ? partsOfSuccess(outcomes.succeeded - already, already, wanted, thing, done)
      : achievementText(outcomes.succeeded, wanted, manifest.rows, thing, done);
  const soFar = run.phase === 'in progress' ? ' so far' : '';
  const may = !isUnconfirmed && done === 'succeeded' ? 'may have' : 'may have been';
  const more = doubtful > 0 && `, ${count(doubtful)}${isUnconfirmed ? '' : ' more'} ${may}`;
  const sentence = `${[what, soFar, more].filter(Boolean).join('')}.`;
  if (run.phase === 'in progress' || run.state === 'completed')
    return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
  return `Run ${run.state}: ${sentence}`;
}

/** The state of an entry after a success: `restored`, or `done` where the operation has no word. */
function stateOfDone(done: string): string {
  return done === 'succeeded' ? 'done' : done;
}

/** Success in two parts, if the run found rows done: `0 of 300 things deleted, 300 were already deleted`. */
function partsOfSuccess(made: number, already: number, wanted: number, thing: string, done: string): string {
  const were = already === 1 ? 'was' : 'were';
  return `${count(made)} of ${counted(wanted, thing)} ${done}, ${count(already)} ${were} already ${stateOfDone(done)}`;
}

/** How many rows succeeded: `All 3 evaluations restored`; `2 of 5 evaluations restored`; `2 evaluations restored, of 7 rows`. */
function achievementText(
  succeeded: number,
  wanted: number,
  rows: number,
  thing: string,
  done: string,
): string {
  if (succeeded === wanted && wanted > 0) {
    const things = counted(wanted, thing);
    return `${wanted === 1 ? things : `All ${things}`} ${done}`;
  }
  if (wanted === rows || thing === 'row') return `${count(succeeded)} of ${counted(rows, thing)} ${done}`;
  return `${counted(succeeded, thing)} ${done}, of ${counted(rows, 'row')}`;
}

function openPointTexts({ run, summary }: PageData): readonly string[] {
  const { outcomes, unclear } = summary;
  const { failed, invalid } = outcomes;
  const uncalled = rowsLeft({ run, summary });
  const invalidRows =
    failed > 0 ? `${count(invalid)} ${invalid === 1 ? 'is' : 'are'}` : counted(invalid, 'row', ['is', 'are']);
  const inNeed = [
    failed > 0 && `${counted(failed, 'row')} failed`,
    invalid > 0 && `${invalidRows} invalid`,
  ].filter((text) => text !== false);
  const sentences = [
    inNeed.length > 0 && `${inNeed.join(', ')}.`,
    uncalled > 0 &&
      counted(
        uncalled,
        'row',
        run.phase === 'stopped' ? ['is left.', 'are left.'] : ['was not called.', 'were not called.'],
      ),
    inNeed.length + uncalled === 0 && unclear > 0 && counted(unclear, 'row', ['is unclear.', 'are unclear.']),
  ];
  return sentences.filter((text) => text !== false);
}
