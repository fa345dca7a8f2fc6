import { count, counted, inWords } from '../../base/text/format.ts';
import { clockTime } from '../../base/text/local-time.ts';
import { apiText, percentOf } from '../../domain/terms.ts';
import { rowsInNeed } from '../../engine/report/html/verdict.ts';
import { leavesRows, resultOf } from '../../engine/run/record/ending.ts';
import {
  asSentence,
  calledText,
  endedAt,
  failingText,
  type RunData,
  reasonOf,
  type ScheduleData,
  type Snapshot,
  stateOf,
} from './page-data.ts';

/** What needs a person, with the one thing to do about it. The dashboard begins with these. */
export interface Need {
  /** Unique on the page. */
  readonly id: string;
  /** The CSS class for color and icon. */
  readonly kind: string;
  readonly title: string;
  readonly text: string;
  /** When the need came up, ISO 8601 UTC, if known. */
  readonly since?: string | undefined;
  readonly run?: RunData;
  /** The rows of the run to look at, as the page of the run has them in its address. */
  readonly rows?: string;
  /** What to type. */
  readonly command?: string | undefined;
  /** The schedule whose refused files are dismissed, until the time of the latest. */
  readonly refusals?: { readonly schedule: string; readonly until: string };
}

/** How long an ended run is among the needs. The table of ended runs has it for longer. */
const recentMs = 7 * 24 * 60 * 60 * 1_000;

/** What needs a person: first runs in progress, then refused files, then ended runs: stopped ones, unclear ones, the newest first. */
export function needsOf(
  {
    runs,
    ended,
    schedules,
    hasDaemon,
    daemonCommand,
  }: Pick<Snapshot, 'runs' | 'ended' | 'schedules' | 'hasDaemon' | 'daemonCommand'>,
  now = Date.now(),
): readonly Need[] {
  const retried = new Set([...runs, ...ended].map(({ local }) => local?.retryOf));
  const needs = [
    ...awayApis(runs, now),
    ...runs.map(needOfRun),
    !hasDaemon && schedules.some(({ paused }) => !paused) && missingDaemon(daemonCommand),
    ...schedules.map(refusalsOf),
    ...ended
      .filter((run) => isRecent(run, now) && !retried.has(run.id))
      .toSorted((one, other) => urgencyOf(one) - urgencyOf(other))
      .map(needOfEnded),
  ];
  return needs.filter((need) => need !== false);
}

function missingDaemon(command: string): Need {
  const [title, text] = ['No daemon is running', 'Schedules start no runs.'];
  return { id: 'daemon', kind: 'halted', title, text, command };
}

/** The APIs that answer no call, each once for all of its runs. */
function awayApis(runs: readonly RunData[], now: number): readonly Need[] {
  const waiting = runs.filter(({ wait, pace }) => wait?.of === 'api' && pace?.away != null);
  const apis = [...new Map(waiting.map((run) => [apiText(run), run]))];
  return apis.flatMap(([api, { pace }]) => {
    const away = pace?.away;
    if (away == null) return [];
    const itsRuns = waiting.filter((run) => apiText(run) === api);
    const waits = itsRuns.map(({ id }) => id);
    const isOne = waits.length === 1;
    const end =
      away.gives_up_at === null
        ? `${isOne ? 'waits' : 'wait'} until the API is back`
        : `${isOne ? 'gives' : 'give'} up at ${clockTime(new Date(away.gives_up_at), new Date(now))}`;
    return {
      id: `away ${api}`,
      kind: 'attention',
      title: `${api} is away`,
      text: `${away.reason.replace(/\.$/, '')}. ${counted(waits.length, 'run')} (${inWords(waits, 'and')}) ${end}.`,
      since: away.since,
      ...(itsRuns[0] && { run: itsRuns[0] }),
    };
  });
}

function needOfRun(run: RunData): Need | false {
  const { id, state, wait, local, rows, done } = run;
  const failing = failingText(run);
  if (wait?.of === 'worker' || wait?.of === 'daemon') {
    const { of, command } = wait;
    const text = `${counted(rows - done, 'row', ['waits', 'wait'])}${of === 'worker' ? `: no worker serves ${apiText(run)}` : ''}.`;
    return { id: `need ${id}`, kind: 'waiting', title: `${id} waits for a ${of}`, text, run, command };
  }
  if (state === 'paused') {
    const last = local?.states.at(-1);
    const by = last?.by === undefined ? '' : ` by ${last.by.user}`;
    const why = last?.reason === undefined ? '' : `: ${last.reason}`;
    const left = `${counted(rows - done, 'row', ['is', 'are'])} left.`;
    const title = `${id} is paused`;
    return {
      id: `need ${id}`,
      kind: 'paused',
      title,
      text: `Paused${by}${why}. ${left}`,
      since: last?.at,
      run,
    };
  }
  if (failing === undefined) return false;
  return { id: `need ${id}`, kind: 'failed', title: `${id} fails`, text: failing, run, rows: 'failed' };
}

function refusalsOf({ name, source, refused }: ScheduleData): Need | false {
  const last = refused.at(-1);
  if (last === undefined) return false;
  const files = inWords(
    refused.map((file) => file.name),
    'and',
  );
  const inbox = 'inbox' in source ? ` The reasons are beside the files, in ${source.inbox}/failed.` : '';
  return {
    id: `refused ${name}`,
    kind: 'failed',
    title:
      refused.length === 1
        ? `A file of ${name} was refused`
        : `${refused.length} files of ${name} were refused`,
    text: `${files}.${inbox}`,
    since: last.at,
    refusals: { schedule: name, until: last.at },
  };
}

/** Stopped runs come before runs with unclear rows, and these before the others. */
function urgencyOf({ local, ...run }: RunData): number {
  if (leavesRows(resultOf(run, run.counts))) return 0;
  return (local?.unclear ?? 0) > 0 ? 1 : 2;
}

function isRecent(run: RunData, now: number): boolean {
  const at = endedAt(run);
  return at !== undefined && Date.parse(at) > now - recentMs;
}

function needOfEnded(run: RunData): Need | false {
  const { id, counts, local } = run;
  const result = resultOf(run, counts);
  const unclear = local?.unclear ?? 0;
  const of = { id: `need ${id}`, since: endedAt(run), run } as const;
  const [step] = local?.steps ?? [];
  if (leavesRows(result)) {
    const reason = reasonOf(run);
    const left = counted(counts.not_attempted + counts.pending, 'row', ['is', 'are']);
    const text = reason === undefined ? calledText(run) : `${left} left. ${asSentence(reason)}`;
    const { text: state, kind } = stateOf(run);
    return {
      ...of,
      kind: kind === 'interrupted' ? 'attention' : kind,
      title: `${id} ${state === 'gave up' ? state : `is ${state}`}`,
      text: text.endsWith('.') ? text : `${text}.`,
      rows: rowsInNeed(counts) > 0 ? 'attention' : 'all',
      command: step?.command,
    };
  }
  if (result === 'cancelled' || result === 'failed') return false;
  const { unclearStep } = local ?? {};
  if (unclearStep !== undefined)
    return {
      ...of,
      kind: 'unclear',
      title: `${counted(unclear, 'row')} of ${id} ${unclear === 1 ? 'is' : 'are'} unclear`,
      text: unclearStep.text,
      rows: 'all unclear',
      command: unclearStep.command,
    };
  if (result !== 'rows_failed') return false;
  const failed = rowsInNeed(counts);
  return {
    ...of,
    kind: 'failed',
    title: `${counted(failed, 'row')} of ${id} failed`,
    text: `${count(counts.succeeded)} of ${count(run.rows)} succeeded.`,
    rows: 'attention',
  };
}

/** What the tab says: `3 need you · 42 % restore-a`. Of several runs in progress, all their rows together. */
export function tabTitle({ runs }: Pick<Snapshot, 'runs'>, needs: readonly Need[], opened?: string): string {
  const one = runs.find(({ id }) => id === opened) ?? (runs.length === 1 ? runs[0] : undefined);
  const name = one?.id ?? opened ?? (runs.length > 1 ? `${runs.length} runs` : '');
  const shown = one === undefined ? runs : [one];
  const share = percentOf(sumOver(shown, 'done'), sumOver(shown, 'rows'));
  const isKnown = one !== undefined || (opened === undefined && runs.length > 1);
  return [
    needs.length > 0 && (needs.length === 1 ? '1 needs you' : `${needs.length} need you`),
    isKnown ? `${share} % ${name}` : name,
    'cqbatch',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The finished rows, or all rows, of some runs together. */
export function sumOver(runs: readonly RunData[], member: 'done' | 'rows'): number {
  return runs.reduce((sum, run) => sum + run[member], 0);
}
