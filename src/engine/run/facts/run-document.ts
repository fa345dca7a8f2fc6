import type { WorkerEntry } from '../../cluster/entries.ts';
import type { RecordedPace } from '../../report/rate-history.ts';
import type { RunBrief, RunFacts } from './run-facts.ts';
import { waitInOneText } from './run-wait.ts';

export type RunDocument = ReturnType<typeof runDocument>;

/**
 * The facts of a run as JSON. Documents that show a run select members of it, so that a member has one name and one meaning in all of them.
 * Unknown values are null.
 *
 * @param run without its journal if the journal can't be read
 */
export function runDocument(run: RunBrief & Partial<RunFacts>) {
  const { local, throughput, coordinator, pace, wait } = run;
  const { codes, unclear, activeMs } = local ?? {};
  return {
    run: run.id,
    state: run.state,
    because: run.because ?? null,
    waiting: wait === undefined ? null : waitInOneText(wait),
    manifest: run.manifest,
    base_url: run.baseUrl,
    ...(run.rateGroup !== undefined && { rate_group: run.rateGroup }),
    started_at: run.startedAt ?? null,
    duration_s: activeMs === undefined ? null : Math.round(activeMs / 1_000),
    rows: run.rows,
    done: run.done ?? null,
    outcomes: run.counts ?? null,
    succeeded: run.counts?.succeeded ?? null,
    failed: run.counts?.failed ?? null,
    unclear: unclear ?? null,
    codes: codes?.map(({ outcome, code, count }) => ({ outcome, code, count })) ?? null,
    wanted_rate: run.wantedRate,
    priority: run.priority,
    rows_per_s: throughput?.rowsPerSecond ?? null,
    pace: pace === undefined ? null : paceDocument(pace),
    process: coordinator === undefined ? null : processDocument(coordinator),
    workers: run.workers?.map(workerDocument) ?? [],
    states: local?.states.map(({ state, at, reason }) => ({ state, at, reason })) ?? null,
    retry_of: local?.retryOf ?? null,
  };
}

/** Selects members of a document, in the order of the names. */
export function selectMembers<const Names extends readonly (keyof RunDocument)[]>(
  document: RunDocument,
  names: Names,
): Pick<RunDocument, Names[number]> {
  const members = names.filter((name) => document[name] !== undefined).map((name) => [name, document[name]]);
  return Object.fromEntries(members);
}

function paceDocument(pace: RecordedPace) {
  const { allowed_per_s, limit_per_s, concurrency, reason, wait_until, wait_by, away } = pace;
  return { allowed_per_s, limit_per_s, concurrency, reason, wait_until, wait_by, away };
}

function processDocument({ pid, host, version }: NonNullable<RunFacts['coordinator']>) {
  return { pid, host, ...(version !== undefined && { version }) };
}

function workerDocument({
  host,
  pid,
  version,
  concurrency,
  active,
  finished,
  startedAt,
  seenAt,
}: WorkerEntry) {
  return { host, pid, version, concurrency, active, finished, started_at: startedAt, seen_at: seenAt };
}
