import { count, counted, duration, perSecond } from '../../../base/text/format.ts';
import { clockTime, localTime } from '../../../base/text/local-time.ts';
import { type Outcome, outcomes, outcomeText, percentOf } from '../../../domain/terms.ts';
import type { RecordedPace } from '../../report/rate-history.ts';
import type { RunProgress, StalledCalls } from './run-facts.ts';

/**
 * The words and figures of progress. The terminal of a run, `status` and the dashboard show these phrases and make none of their own: a
 * figure that is added here appears in all three. The browser imports this file, so that it uses neither Node nor zod.
 */
export interface ProgressPhrase {
  /** The label in a table. Empty: the phrase continues the one before. */
  readonly name: string;
  /** The parts of the phrase, to be joined by commas. Usually one. */
  readonly parts: readonly ProgressPart[];
  /** A `wait` says why no row is called. A `note` is a sentence, which has a line of its own. */
  readonly kind: 'figure' | 'wait' | 'note';
}

interface ProgressPart {
  readonly text: string;
  readonly outcome?: Outcome;
}

/** @param now milliseconds since 1970 */
export function progressPhrases(run: RunProgress, now = Date.now()): readonly ProgressPhrase[] {
  const { done, rows, counts, retrying = 0, workerCount = 0, stalled, wait } = run;
  const outcomeParts = outcomes
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => ({ text: `${count(counts[outcome])} ${outcomeText(outcome)}`, outcome }));
  const isNote = isAway(run) || wait?.of === 'worker' || wait?.of === 'daemon';
  return [
    phrase('finished', `${finishedText(done, rows)} (${percentOf(done, rows)} %)`),
    phrase('time left', timeLeft(run)),
    { name: 'outcomes', parts: outcomeParts, kind: 'figure' } as const,
    phrase('retries', retrying > 0 ? `${count(retrying)} retrying` : ''),
    phrase('rate', rateWords(run)),
    phrase('served by', workerCount > 1 ? counted(workerCount, 'worker') : ''),
    phrase('calls', stalled === undefined || isAway(run) ? '' : stalledText(stalled)),
    phrase('now', waitWords(run, now), isNote ? 'note' : 'wait'),
    phrase('', wait?.of === 'api' && !isAway(run) ? wait.advice : '', 'note'),
    phrase('now', unknownText(run), 'note'),
  ].filter(({ parts }) => parts.length > 0);
}

/** `4,512/12,000`. Of a run whose journal can't be read, the finished rows are unknown: `?/12,000`. */
export function finishedText(done: number | undefined, rows: number): string {
  return `${done === undefined ? '?' : count(done)}/${count(rows)}`;
}

function phrase(name: string, text = '', kind: ProgressPhrase['kind'] = 'figure'): ProgressPhrase {
  return { name, parts: text === '' ? [] : [{ text }], kind };
}

export function phraseText({ parts }: ProgressPhrase): string {
  return parts.map(({ text }) => text).join(', ');
}

/** Whether the words change although the facts do not. */
export function countsDown({ wait, pace }: Pick<RunProgress, 'wait' | 'pace'>): boolean {
  return wait?.of === 'api' && (wait.until !== null || pace?.away !== null);
}

function isAway({ wait, pace }: RunProgress): boolean {
  return wait?.of === 'api' && pace !== undefined && pace.away !== null;
}

/** `12 s left`, `12 s left on average`: by the latest rate that is known. Unknown while no row is called. */
function timeLeft({ state, done, rows, throughput, retrying = 0, wait }: RunProgress): string {
  const { rowsPerSecond = 0 } = throughput ?? {};
  if (state !== 'running' || wait !== undefined || rowsPerSecond === 0 || done >= rows) return '';
  const by = throughput?.of === 'average' ? ' on average' : '';
  const text = `${duration((rows - done) / rowsPerSecond)} left${by}`;
  return retrying > 0 ? `at least ${text}` : text;
}

/** `640/s of 50/s (limit 50/s, just under the limit)`, `640/s, unlimited`, `2.5/s on average`. Empty while the API is not the reason to wait. */
function rateWords(run: RunProgress): string {
  const { throughput, pace, wait } = run;
  if (throughput === undefined || (wait !== undefined && wait.of !== 'api') || isAway(run)) return '';
  const rate = perSecond(throughput.rowsPerSecond);
  if (throughput.of === 'average') return `${rate} on average`;
  if (pace === undefined || wait?.of === 'api') return rate;
  const { allowed_per_s: allowed, limit_per_s: limit } = pace;
  const why = [limit === null ? '' : `limit ${perSecond(limit)}`, paceReason(pace)]
    .filter(Boolean)
    .join(', ');
  return `${rate}${allowed === null ? ', unlimited' : ` of ${perSecond(allowed)}`}${why === '' ? '' : ` (${why})`}`;
}

/** Why calls have their rate. Empty while calls have the rate that the user requested. */
function paceReason({ phase, bound_by, reason }: RecordedPace): string {
  return phase === 'fixed' && bound_by === null ? '' : reason;
}

/** A longer wait is shown with the time when it ends. */
const longWaitSeconds = 600;

function waitWords(run: RunProgress, now: number): string {
  const { wait, pace } = run;
  if (wait === undefined) return '';
  switch (wait.of) {
    case 'user':
      return `paused: no row is called until you unpause it${wait.reason === undefined ? '' : `; reason: ${wait.reason}`}`;
    case 'datastore':
      return `waiting: ${wait.text}`;
    case 'api':
      return pace !== undefined && pace.away !== null
        ? awayText(pace.away, pace.wait_until, now)
        : restText(wait.until, wait.text, now);
    default:
      return `waiting ${wait.text}`;
  }
}

/** `waiting 9 s (the API asks to wait)`, `waiting 2 h, until 16:10 UTC (the API asks to wait)` */
function restText(until: string | null, reason: string, now: number): string {
  if (until === null) return `waiting (${reason})`;
  const seconds = Math.round(Math.max(0, Date.parse(until) - now) / 1_000);
  const end = seconds < longWaitSeconds ? '' : `, until ${clockTime(new Date(until), new Date(now))}`;
  return `waiting ${duration(seconds)}${end} (${reason})`;
}

/** `API away for 12 s: connection refused. Tries again in 2 s, gives up at 20:32 UTC.` */
function awayText(away: NonNullable<RecordedPace['away']>, testAt: string | null, now: number): string {
  const { reason, since, gives_up_at: end } = away;
  const testSeconds = testAt === null ? 0 : Math.round((Date.parse(testAt) - now) / 1_000);
  const next = testSeconds < 1 ? 'Tries again now' : `Tries again in ${duration(testSeconds)}`;
  const giveUp = end === null ? '' : `, gives up at ${clockTime(new Date(end), new Date(now))}`;
  const lasted = duration(Math.max(0, now - Date.parse(since)) / 1_000);
  return `API away for ${lasted}: ${reason.replace(/^The /, 'the ').replace(/\.$/, '')}. ${next}${giveUp}.`;
}

/** `1 call in flight for 35 s (timeout 60 s)` */
function stalledText({ calls, oldestMs, timeoutMs }: StalledCalls): string {
  const since = calls === 1 ? ' for' : ', the oldest for';
  const timeout = `timeout ${count(timeoutMs / 1_000)} s`;
  return `${counted(calls, 'call')} in flight${since} ${duration(oldestMs / 1_000)} (${timeout})`;
}

function unknownText({ lastSeenAt }: RunProgress): string {
  if (lastSeenAt === undefined) return '';
  return `Unknown since ${localTime(lastSeenAt)}: the datastore of this run does not answer.`;
}
