import { goneAfterMs, type WorkerEntry } from '../../cluster/entries.ts';
import { toHundredths } from '../../cluster/rate-policy.ts';
import { type OutcomeCounts, outcomes } from '../../domain.ts';
import type { CodeCount } from '../../journal/journal.ts';
import type { RunRecord } from '../../run/record.ts';
import { clockTime, count, duration, indented, perSecond, table } from './words.ts';

/** Where a run stands, whatever is known of it from here. */
export interface RunView {
  readonly id: string;
  readonly state: string;
  /** Whether nobody works on it any more. */
  readonly ended: boolean;
  readonly manifest: string;
  readonly baseUrl: string;
  readonly rows: number;
  readonly counts: OutcomeCounts;
  /** Rows per second: of the last seconds while somebody tells it, else on average. */
  readonly rate?: { readonly perSecond: number; readonly of: 'now' | 'average' };
  /** The process that feeds and collects it, while it is active. */
  readonly coordinator?: { readonly host: string; readonly pid: number; readonly seenAt?: string };
  readonly workers: readonly WorkerEntry[];
  /** How the API is called, while it is. */
  readonly pace?: PaceView;
  /** What only the state folder knows; absent for a run of another machine. */
  readonly local?: {
    readonly unclear: number;
    readonly codes: readonly CodeCount[];
    readonly states: RunRecord['states'];
    readonly retryOf?: string | undefined;
    readonly resumable: boolean;
  };
}

/** How an API is called. */
export interface PaceView {
  /** Calls per second; absent: as many as can be. */
  readonly allowed: number | undefined;
  /** The API's limit in calls per second, as far as it is known. */
  readonly limit: number | undefined;
  /** Calls in flight that are allowed. */
  readonly concurrency: number;
  /** Why it is so. */
  readonly reason: string;
  /** Until when no call is made, ISO 8601 UTC. */
  readonly waitUntil: string | undefined;
}

/** What `cqbatch status --json` prints. */
export function statusDocument(view: RunView): object {
  const { local, rate, coordinator } = view;
  return {
    run: view.id,
    state: view.state,
    manifest: view.manifest,
    base_url: view.baseUrl,
    rows: view.rows,
    done: doneOf(view),
    outcomes: view.counts,
    unclear: local?.unclear ?? null,
    codes: local?.codes.map(({ outcome, code, count: rows }) => ({ outcome, code, count: rows })) ?? null,
    rate_per_s: rate?.perSecond ?? null,
    pace: paceDocument(view.pace),
    process: coordinator === undefined ? null : { pid: coordinator.pid, host: coordinator.host },
    workers: view.workers.map(({ host, pid, version, concurrency, active, finished, startedAt, seenAt }) => ({
      host,
      pid,
      version,
      concurrency,
      active,
      finished,
      started_at: startedAt,
      seen_at: seenAt,
    })),
    states:
      local?.states.map(({ state, at, reason }) => ({
        state,
        at,
        ...(reason !== undefined && { reason }),
      })) ?? null,
    retry_of: local?.retryOf ?? null,
  };
}

/** Where a run stands, on one line that can be redrawn. */
export function statusLine(view: RunView): string {
  const { rate, workers } = view;
  const done = doneOf(view);
  return [
    `Run ${view.id} ${view.state}`,
    `${count(done)}/${count(view.rows)} (${percent(done, view.rows)} %)`,
    outcomesOf(view).join(', '),
    rate?.of === 'now' ? perSecond(rate.perSecond) : '',
    ...paceLines(view.pace, Date.now()).map(([, text]) => text ?? ''),
    workers.length > 0 ? `${count(workers.length)} ${workers.length === 1 ? 'worker' : 'workers'}` : '',
  ]
    .filter((part) => part !== '')
    .join('  ');
}

/** Where a run stands, and who works on it. */
export function statusText(view: RunView, now = Date.now()): string {
  const { rate, coordinator, local } = view;
  const done = doneOf(view);
  const reason = local?.states.at(-1)?.reason;
  const facts = [
    ['manifest', view.manifest],
    ['API', view.baseUrl],
    ['done', `${count(done)} of ${count(view.rows)} rows (${percent(done, view.rows)} %)`],
    ...outcomesOf(view).map((text) => ['', text]),
    ...(rate === undefined
      ? []
      : [['rate', `${perSecond(rate.perSecond)}${rate.of === 'now' ? '' : ' on average'}`]]),
    ...paceLines(view.pace, now),
    ...(coordinator === undefined
      ? []
      : [['process', `${coordinator.pid} on ${coordinator.host}${seen(coordinator.seenAt, now)}`]]),
    ...view.workers.map(({ pid, host, active, concurrency, seenAt }, index) => [
      index === 0 ? 'workers' : '',
      `${pid} on ${host}, ${active} of ${concurrency} calls in flight${seen(seenAt, now)}`,
    ]),
    ...(reason === undefined ? [] : [['reason', reason]]),
    ...(local?.resumable ? [['next', `cqbatch resume ${view.id}`]] : []),
    ...(view.state === 'paused' ? [['next', `cqbatch unpause ${view.id}`]] : []),
  ];
  return `Run ${view.id} ${view.state}\n${indented(table(facts))}`;
}

function paceDocument(pace: PaceView | undefined): object | null {
  if (pace === undefined) return null;
  return {
    allowed_per_s: pace.allowed === undefined ? null : toHundredths(pace.allowed),
    limit_per_s: pace.limit === undefined ? null : toHundredths(pace.limit),
    concurrency: pace.concurrency,
    reason: pace.reason,
    wait_until: pace.waitUntil ?? null,
  };
}

function paceLines(pace: PaceView | undefined, now: number): readonly string[][] {
  if (pace === undefined) return [];
  const allowed = pace.allowed === undefined ? 'as fast as can be' : `at most ${perSecond(pace.allowed)}`;
  const limit = pace.limit === undefined ? '' : `, limit of the API ${perSecond(pace.limit)}`;
  const waitMs = Date.parse(pace.waitUntil ?? '') - now;
  const text =
    waitMs > 0
      ? `waiting ${duration(waitMs / 1_000)}, until ${clockTime(new Date(now + waitMs), new Date(now))}`
      : `${allowed}${limit}`;
  return [['pace', `${text} (${pace.reason})`]];
}

function doneOf({ counts }: RunView): number {
  return outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}

function outcomesOf({ counts }: RunView): readonly string[] {
  return outcomes
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${count(counts[outcome])} ${outcome.replace('_', ' ')}`);
}

function percent(done: number, rows: number): number {
  return Math.floor((done / Math.max(rows, 1)) * 100);
}

/** Nothing while it is there. */
function seen(seenAt: string | undefined, now: number): string {
  if (seenAt === undefined || now - Date.parse(seenAt) < goneAfterMs) return '';
  return `, last seen ${duration((now - Date.parse(seenAt)) / 1_000)} ago`;
}
