import { shellWord } from '../../base/text/command-words.ts';
import { duration } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { withoutRunWords } from '../../daemon/schedule/occasion-words.ts';
import type { HistoryEntry, Schedule, ScheduleState, Trigger } from '../../daemon/schedule/schedule.ts';
import { actorText, type OutcomeCounts } from '../../domain/terms.ts';
import type { RunState } from '../../engine/run/record/record.ts';
import { flagWords } from '../../settings/settings.ts';
import { cutInTheMiddle, styled } from './style.ts';
import { documentOf, type Fact, factLines, indentedText, outcomeTexts, styledState, table } from './words.ts';

export interface ScheduleView {
  readonly schedule: Schedule;
  readonly state: ScheduleState;
  /** The next times of the schedule. Empty while the schedule is paused. */
  readonly next: readonly Date[];
  readonly triggered: Trigger | undefined;
  /** Finds a run by its id. Undefined when the run was removed, or its record is damaged. */
  readonly run: (
    id: string,
  ) => { readonly state: RunState; readonly counts: OutcomeCounts | undefined } | undefined;
}

/** Times in a schedule's zone: `Tue 24 Nov 02:00, Wed 25 Nov 02:00` */
export function timesText(times: readonly Date[], tz: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: tz,
    hourCycle: 'h23',
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const thisYear = String(new Date().getFullYear());
  const timeText = (time: Date): string => {
    const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const { weekday, day, month, year, hour, minute, second } = parts;
    const date = [weekday, day, month, ...(year === thisYear ? [] : [year])].join(' ');
    return `${date} ${hour}:${minute}${second === '00' ? '' : `:${second}`}`;
  };
  return times.map(timeText).join(', ');
}

/** The list of schedules. @param columns of the screen */
export function listText(
  views: readonly ScheduleView[],
  columns = Number.POSITIVE_INFINITY,
  now = Date.now(),
): string {
  return views
    .map((view) => {
      const { name, cron, tz } = view.schedule;
      const facts: readonly Fact[] = [
        ['next', `${waitText(view, now)}${nextText(view)}`],
        ['last', lastTexts(view, 1)],
      ];
      const when = `${name}  ${cron}  ${tz}`;
      return `${when}  ${cutSource(view.schedule, columns - when.length - 2)}\n${indentedText(factLines(facts))}`;
    })
    .join('\n');
}

export function scheduleText(view: ScheduleView): string {
  const { name, cron, tz, overlap, catchUpMs, changes, options } = view.schedule;
  const change = changes.at(-1);
  const skipsOrQueues = overlap === 'skip' ? 'skip a time' : 'queue one time';
  const facts: readonly Fact[] = [
    ['when', `${cron} (${tz})`],
    ['source', sourceText(view.schedule)],
    ['options', flagWords(options).map(shellWord).join(' ') || 'none'],
    ['overlap', `${skipsOrQueues} while its run is in progress`],
    ['catch-up', catchUpMs === null ? 'none' : `up to ${duration(catchUpMs / 1_000)} late`],
    [change?.what ?? '', change && changeText(change)],
    ['next', nextText(view)],
    ['last', lastTexts(view, 3)],
  ];
  return `Schedule ${name}\n${indentedText(factLines(facts))}`;
}

const leastSource = 20;

/** The last entries of a schedule's history, the latest first. */
function lastTexts(view: ScheduleView, most: number): readonly string[] {
  const entries = view.state.history.slice(-most).toReversed();
  return entries.map((entry) => `${timeOf(entry, view.schedule.tz)}: ${entryText(entry, view)}`);
}

export function historyText(view: ScheduleView): string {
  const { schedule, state } = view;
  if (state.history.length === 0)
    return `Schedule ${schedule.name} has not been due yet. Next: ${nextText(view)}`;
  const rows = state.history
    .toReversed()
    .map((entry) => [timeOf(entry, schedule.tz), entryText(entry, view)] as const);
  return table([[`due (${schedule.tz})`, 'result'], ...rows]).join('\n');
}

function nextText({ schedule, state, next, triggered }: ScheduleView): string {
  return [
    triggered && 'now (triggered)',
    state.waiting && 'when its run ends',
    schedule.paused ? styled('yellow', 'paused') : timesText(next, schedule.tz) || 'never',
  ]
    .filter(Boolean)
    .join(', ');
}

/** The wait, as it stands before the next times: `in 11 h 57 min: ` */
function waitText({ next: [first], triggered, state }: ScheduleView, now: number): string {
  if (first === undefined || triggered !== undefined || state.waiting !== undefined) return '';
  return `in ${duration((first.getTime() - now) / 1_000)}: `;
}

/** The manifest or inbox, cut to the screen. Whole if too little of it would be left: then it takes further lines. */
function cutSource(schedule: Schedule, columns: number): string {
  const text = sourceText(schedule);
  return columns < leastSource ? text : cutInTheMiddle(columns, escapeInvisible(text));
}

function sourceText({ source }: Schedule): string {
  return 'manifest' in source ? source.manifest : `inbox ${source.inbox}`;
}

function changeText({ at, by, reason }: Schedule['changes'][number]): string {
  const who = by === undefined ? '' : ` by ${actorText(by)}`;
  return `${at.slice(0, 16).replace('T', ' ')} UTC${who}${reason === undefined ? '' : `: ${reason}`}`;
}

function timeOf({ due, trigger }: HistoryEntry, tz: string): string {
  return `${timesText([new Date(due)], tz)}${trigger === undefined ? '' : ' (triggered)'}`;
}

function entryText(entry: HistoryEntry, view: ScheduleView): string {
  const until =
    'until' in entry && entry.until ? ` (until ${timesText([new Date(entry.until)], view.schedule.tz)})` : '';
  switch (entry.result) {
    case 'began': {
      const refused = (entry.refused ?? []).map((name) => styled('red', `${name} refused`));
      return [...entry.runs.map((id) => runText(id, view.run(id))), ...refused].join('; ');
    }
    case 'idle':
      return `${withoutRunWords(entry).why}${until}`;
    default: {
      const { what, why } = withoutRunWords(entry);
      const style = resultStyles[what];
      const word = style === undefined ? what : styled(style, what);
      return `${word}: ${why}${entry.result === 'skipped' && entry.because === 'paused' ? '' : until}`;
    }
  }
}

const resultStyles: Readonly<Record<string, 'red' | 'yellow'>> = { missed: 'yellow', failed: 'red' };

function runText(id: string, run: ReturnType<ScheduleView['run']>): string {
  if (run === undefined) return `${id} (removed or damaged since)`;
  return `${id} ${[styledState(run.state), ...(run.counts === undefined ? [] : outcomeTexts(run.counts))].join(', ')}`;
}

export function scheduleDocument(view: ScheduleView): object {
  const { schedule, state, next, triggered } = view;
  const last = state.history.at(-1);
  return {
    schedule: schedule.name,
    cron: schedule.cron,
    tz: schedule.tz,
    manifest: 'manifest' in schedule.source ? schedule.source.manifest : null,
    inbox: 'inbox' in schedule.source ? schedule.source.inbox : null,
    options: documentOf(schedule.options),
    overlap: schedule.overlap,
    catch_up_s: schedule.catchUpMs === null ? null : schedule.catchUpMs / 1_000,
    paused: schedule.paused,
    next: next.map((time) => time.toISOString()),
    triggered_at: triggered?.at ?? null,
    waiting: state.waiting?.due ?? null,
    last: last === undefined ? null : entryDocument(last, view),
    changes: schedule.changes,
  };
}

export function historyDocument(view: ScheduleView): object {
  return {
    schedule: view.schedule.name,
    history: view.state.history.toReversed().map((entry) => entryDocument(entry, view)),
  };
}

function entryDocument(entry: HistoryEntry, { run }: ScheduleView): object {
  const runs = (entry.result === 'began' ? entry.runs : []).map((id) => {
    const known = run(id);
    return { run: id, state: known?.state ?? null, outcomes: known?.counts ?? null };
  });
  return {
    due: entry.due,
    until: ('until' in entry && entry.until) || null,
    at: 'at' in entry ? entry.at : null,
    result: entry.result,
    triggered_by: entry.trigger?.by ?? null,
    reason: entry.trigger?.reason ?? null,
    runs,
    refused: entry.result === 'began' ? (entry.refused ?? []) : [],
    because: entry.result === 'skipped' ? entry.because : null,
    error: entry.result === 'failed' ? { code: entry.code, message: entry.message } : null,
  };
}
