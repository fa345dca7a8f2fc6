import { count, counted } from '../../../base/text/format.ts';
import { type Markup, markup } from './markup.ts';
import type { PageData } from './page-data.ts';
import { countOf, groupLink, type RowGroup } from './row-groups.ts';
import { rowsLeft } from './verdict.ts';

interface Step {
  readonly title: string;
  readonly first?: string | undefined;
  readonly text: string;
  readonly group?: RowGroup;
  readonly rows?: number;
  /** The rows that the page offers as a file. */
  readonly saved?: RowGroup;
  readonly command?: string | undefined;
}

/** Commands are for the operator, so they come last. */
export function nextSteps(data: PageData): Markup {
  const steps = stepsOf(data);
  if (steps.length === 0) return undefined;
  return markup(
    'section',
    { 'aria-label': 'What to do next' },
    markup('h2', {}, data.run.phase === 'in progress' ? 'Failures so far' : 'What to do next'),
    markup('ol', { class: 'steps' }, ...steps.map(stepItem)),
  );
}

export function stepsText(data: PageData): readonly string[] {
  return stepsOf(data).map(({ title, first, command }, index) =>
    [`${index + 1}. ${title}`, first && ` (${first})`, command && `: ${command}`].filter(Boolean).join(''),
  );
}

function stepItem({ title, first, text, group, rows = 0, saved, command }: Step): Markup {
  return markup(
    'li',
    {},
    markup('h3', {}, title),
    first !== undefined && markup('span', { class: 'outcome unclear' }, first),
    markup('p', {}, text),
    markup(
      'p',
      { class: 'do' },
      group !== undefined &&
        rows > 0 &&
        groupLink(group, rows === 1 ? 'Show the row' : `Show the ${counted(rows, 'row')}`),
      saved && markup('button', { type: 'button', id: 'save', 'data-save': saved }, 'Save them as CSV'),
      command !== undefined && commandOf(command),
    ),
  );
}

function commandOf(command: string): Markup {
  const which = markup('span', { class: 'spoken' }, ` ${command}`);
  const copy = markup('button', { type: 'button', id: command, 'data-copy': command }, 'Copy', which);
  return markup('span', { class: 'command' }, markup('code', {}, command), copy);
}

function stepsOf(data: PageData): readonly Step[] {
  const { run, summary } = data;
  const { unclear, outcomes: counts } = summary;
  const isEnded = run.phase === 'ended';
  const rowsOf = (group: RowGroup) => countOf(group, data);
  const [toRetry, toCorrect, toDecide] = [rowsOf('retry'), rowsOf('correct'), rowsOf('decide')];
  const toResume = rowsOf('resume');
  const left = counted(rowsLeft(data), 'row', ['is', 'are']);
  const resume = `cqbatch resume ${run.id}`;
  const steps: readonly (Step | false)[] = [
    run.phase === 'stopped' &&
      run.next !== resume && {
        title: 'Find out why the run stopped',
        text: 'A resume would meet the same reason again until it is mended.',
        command: run.next,
      },
    run.phase === 'stopped' && {
      title: `Continue the run: ${left} left`,
      text: [
        'Mend what stopped the run, then continue it where it stopped. Rows that are done are not called again.',
        counts.pending > 0 &&
          `It first finds out what became of ${counted(counts.pending, 'pending row')}, which may have been called.`,
        toResume > 0 && `It also calls the ${counted(toResume, 'failed row')} without a result again.`,
      ]
        .filter(Boolean)
        .join(' '),
      group: counts.not_attempted > 0 ? 'not_attempted' : 'pending',
      rows: counts.not_attempted > 0 ? counts.not_attempted : counts.pending,
      command: resume,
    },
    unclear > 0 && {
      title: `Check ${counted(unclear, 'row')} in the service`,
      text: [
        'The API may have processed an attempt, but no usable answer arrived. If such a row succeeded, the change may have been',
        'made twice. If it failed, the change may have been made.',
      ].join(' '),
      group: 'all unclear',
      rows: unclear,
    },
    toRetry > 0 && {
      title: `Retry ${counted(toRetry, 'row')}`,
      first: isEnded ? checkFirst(rowsOf('retry unclear'), toRetry) : undefined,
      text: isEnded
        ? 'Such a row may succeed in a new run. If it does not, ask the operators of the service.'
        : 'Such a row may succeed in a new run. That is possible when this run has ended.',
      group: 'retry',
      rows: toRetry,
      command: run.retry,
    },
    toCorrect > 0 && {
      title: `Correct ${counted(toCorrect, 'row')}`,
      first: checkFirst(rowsOf('correct unclear'), toCorrect),
      text: 'Save the rows, correct the file as its messages say, then run it.',
      group: 'correct',
      rows: toCorrect,
      saved: 'correct',
      command: isEnded ? `cqbatch run ${savedName(run.id, 'correct')}` : undefined,
    },
    toDecide > 0 && {
      title: `Decide about ${counted(toDecide, 'row')}`,
      first: checkFirst(rowsOf('decide unclear'), toDecide),
      text: 'A retry would not help, or must not be made. The table below says why, for each code.',
      group: 'decide',
      rows: toDecide,
    },
  ];
  return steps.filter((step) => step !== false);
}

/** `all 39 unclear: check first` */
function checkFirst(unclear: number, rows: number): string | undefined {
  if (unclear === 0) return undefined;
  return `${unclear === rows && rows > 1 ? 'all ' : ''}${count(unclear)} unclear: check first`;
}

export function savedName(run: string, what: string): string {
  return `${run}-${what}.csv`;
}
