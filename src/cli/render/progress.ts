import { percentOf } from '../../domain.ts';
import type { CanaryResults, ProgressSnapshot, StalledCalls } from '../../index.ts';
import type { Pace } from '../../pace.ts';
import { count, counted, duration, exactDuration, perSecond } from '../../text/quantities.ts';
import { allowedText, clockTime, indented, moreText, outcomeTexts, styledOutcome, table } from './words.ts';

/**
 * Where a run stands, on one line: `4,512/12,000  4,480 succeeded, 32 failed  640/s  12 s left`.
 *
 * @param trouble what keeps the datastore from answering, if something does.
 */
export function progressLine(snapshot: ProgressSnapshot, trouble?: string): string {
  const { rows, done, counts, rowsPerSecond, pace, waitMs, retrying, etaSeconds } = snapshot;
  const { paused, workers, stalled } = snapshot;
  return [
    `${count(done)}/${count(rows)} (${percentOf(done, rows)} %)`,
    outcomeTexts(counts).join(', '),
    `${perSecond(rowsPerSecond)}${pace === undefined || waitMs > 0 ? '' : paceText(pace)}`,
    retrying > 0 ? `${count(retrying)} retrying` : '',
    waitMs > 0 ? waitText(waitMs, reasonOf(pace)) : '',
    stalled === undefined ? '' : stalledText(stalled),
    waiting(),
    etaSeconds === undefined || done === rows || paused || waitMs > 0 ? '' : `${duration(etaSeconds)} left`,
  ]
    .filter((part) => part !== '')
    .join('  ');

  function waiting(): string {
    if (trouble !== undefined) return `waiting: ${trouble}`;
    if (paused) return 'paused';
    if (workers === 0 && done < rows) return 'waiting for a worker: none calls this API';
    return workers === undefined || workers === 1 ? '' : counted(workers, 'worker');
  }
}

/** ` of 50/s (limit 50/s, just under the limit)`; nothing where the rate is not limited. */
function paceText(pace: Pace): string {
  if (pace.rate === undefined) return '';
  const limit = pace.limit === undefined ? '' : `limit ${perSecond(pace.limit)}`;
  const why = [limit, reasonOf(pace)].filter((part) => part !== '').join(', ');
  return ` of ${perSecond(pace.rate)}${why === '' ? '' : ` (${why})`}`;
}

/** Nothing where the user has asked for the rate, unless it is that of another run. */
function reasonOf(pace: Pace | undefined): string {
  return pace === undefined || (pace.phase === 'fixed' && pace.boundBy === undefined) ? '' : pace.reason;
}

/** `1 call in flight for 35 s (time-out 60 s)` */
function stalledText({ calls, oldestMs, timeoutMs }: StalledCalls): string {
  const since = calls === 1 ? ' for' : ', the oldest for';
  const timeout = `time-out ${count(timeoutMs / 1_000)} s`;
  return `${counted(calls, 'call')} in flight${since} ${duration(oldestMs / 1_000)} (${timeout})`;
}

/** A longer wait is told with its end, too. */
const longWaitSeconds = 600;

function waitText(waitMs: number, reason: string): string {
  const seconds = Math.ceil(waitMs / 1_000);
  const until = seconds < longWaitSeconds ? '' : `, until ${clockTime(new Date(Date.now() + waitMs))}`;
  return `waiting ${duration(seconds)}${until}${reason === '' ? '' : ` (${reason})`}`;
}

/** The most rows that a person reads before answering. */
const maxRows = 30;

/** What became of the rows of a canary: all of them, or those first that have failed. */
export function canaryText({ rows, failed }: CanaryResults): string {
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
    `Canary: ${counted(rows.length, 'row')}, ${count(failed)} failed`,
    indented(lines),
    ...(more > 0 ? [`  ${moreText(more, 'row')}`] : []),
  ].join('\n');
}

/** An entry of the structured log, with the members that are read here. */
export interface ProgramLogEntry {
  readonly time: number;
  readonly msg: string;
  readonly row?: number;
  readonly code?: string;
  readonly attempts?: number;
  readonly delay_ms?: number;
  readonly wait_ms?: number;
  readonly rate_per_s?: number;
  readonly limit_per_s?: number;
  readonly concurrency?: number;
  readonly reason?: string;
  readonly err?: string;
}

/** What `--verbose` says of an entry; nothing of most of them. */
export function logLine(entry: ProgramLogEntry): string | undefined {
  const text = textOf(entry);
  return text && `${new Date(entry.time).toLocaleTimeString('en-GB', { hour12: false })}  ${text}`;
}

function textOf(entry: ProgramLogEntry): string | undefined {
  const { msg, row, code, attempts, delay_ms = 0, wait_ms = 0, err } = entry;
  switch (msg) {
    case 'pace':
      return `rate: ${loggedPace(entry)}`;
    case 'row waits':
      return `row ${row}: ${code}, attempt ${attempts}; tried again in ${exactDuration(delay_ms)}`;
    case 'row spared':
      return `row ${row}: ${code}, most likely trouble of the API; tried again, no attempt used up`;
    case 'the API asks to slow down':
      return `row ${row}: ${msg}${wait_ms > 0 ? `, for ${exactDuration(wait_ms)}` : ''}; tried again, no attempt used up`;
    case 'datastore error':
      return `datastore: ${err}`;
    default:
      return undefined;
  }
}

function loggedPace({ rate_per_s, limit_per_s, concurrency, wait_ms = 0, reason }: ProgramLogEntry): string {
  const limit = limit_per_s === undefined ? '' : `, limit of the API ${perSecond(limit_per_s)}`;
  const allowed =
    wait_ms > 0 ? `no call for ${exactDuration(wait_ms)}${limit}` : allowedText(rate_per_s, limit_per_s);
  return `${allowed}, ${concurrency} in flight at most (${reason})`;
}
