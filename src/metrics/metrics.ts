import { STATUS_CODES } from 'node:http';
import type { RequestWatch, SentRequest } from '../api/network/exchange.ts';
import { rowCodes } from '../codes.ts';
import type { RowResult } from '../domain.ts';
import { findOperation, type Operation } from '../operation/operation.ts';
import type { Pace } from '../pace.ts';
import type { RunResult } from '../run/record/ending.ts';
import type { RunWatch, WatchedEnd, WatchedRun } from '../run/session/execution-options.ts';

/** What is known of the last run, as it outlives the process. */
export interface LastRun {
  /** When a run, or a command, last succeeded, seconds since 1970. */
  readonly succeededAt?: number;
  /** When the last run ended, however, seconds since 1970. */
  readonly endedAt?: number;
  readonly durationSeconds?: number;
  /** Of the last command that has written the file of metrics. */
  readonly exitCode?: number;
}

export interface MetricsOptions {
  readonly version: string;
  /** Those of which metrics tell by name. */
  readonly operations: readonly Operation[];
  /** Whether this process works on runs; else nothing is told of runs and rows. */
  readonly runs: boolean;
  /** Whether it is a command that ends: then the rows that its runs have left open, and the pace, go on being told. */
  readonly once?: boolean;
  /** What tells the series of this process from others of the same machine, on each of them. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly now?: () => number;
}

/** Rows that have the same labels. */
export interface CountedRows {
  readonly labels: { readonly operation: string; readonly outcome: string; readonly code: string };
  rows: number;
}

/**
 * What this process has done, for Prometheus. Each row counts where its result is written into the journal, each request where
 * it is made, so that sums over all machines count nothing twice.
 *
 * What is counted is kept as plain numbers, because a row must cost next to nothing; only who asks for the text pays for it.
 */
export class Metrics implements RunWatch {
  readonly options: MetricsOptions;
  readonly rows = new Map<string, CountedRows>();
  /** By label, that of no answer among them. */
  readonly requests = new Map<string, number>();
  readonly runs = new Map<RunResult, number>();
  /** How a worker calls its API; undefined where that is not known, or there is none. */
  paceOfWorker: () => Pace | undefined = () => undefined;
  /** How a run that is going calls the API. */
  paceOfRun: () => Pace | undefined = () => undefined;
  /** Whether rows are taken; undefined where that is not asked. */
  ready: () => boolean | undefined = () => undefined;
  /** Calls in flight; undefined in a process that makes none. */
  inFlight: number | undefined;
  last: LastRun = {};
  /** Called with how long a request took. */
  onRequest: (seconds: number) => void = () => {};
  readonly #now: () => number;
  #hasNews = true;
  readonly #going = new Set<() => number>();
  /** Open rows of runs that have ended. */
  #left = 0;

  constructor(options: MetricsOptions) {
    this.options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Counts the requests of a client. */
  watchRequests(): RequestWatch {
    this.inFlight ??= 0;
    return {
      began: () => {
        this.inFlight = (this.inFlight ?? 0) + 1;
      },
      ended: (sent) => {
        this.inFlight = (this.inFlight ?? 0) - 1;
        if (sent !== undefined) this.#sent(sent);
      },
    };
  }

  #sent({ status, durationMs }: SentRequest): void {
    countUp(this.requests, statusLabel(status));
    this.onRequest(durationMs / 1_000);
  }

  began(waitingRows: () => number): WatchedRun {
    this.#going.add(waitingRows);
    return {
      ended: (end) => {
        this.#going.delete(waitingRows);
        if (!this.options.once && this.#going.size === 0) this.paceOfRun = () => undefined;
        if (end === undefined) return;
        if (this.options.once && isOpen(end.result)) this.#left += waitingRows();
        this.#ended(end);
      },
    };
  }

  #ended({ result, durationMs }: WatchedEnd): void {
    countUp(this.runs, result);
    const endedAt = this.#now() / 1_000;
    this.last = {
      ...this.last,
      endedAt,
      ...(durationMs !== undefined && { durationSeconds: durationMs / 1_000 }),
      ...(result === 'succeeded' && { succeededAt: endedAt }),
    };
  }

  /** The run was finished before: what was told of it then stays, whatever the exit code is now. */
  foundFinished(): void {
    this.#hasNews = false;
  }

  /** A command is about to end. */
  ending(exitCode: number): void {
    if (!this.#hasNews) return;
    this.last = { ...this.last, exitCode, ...(exitCode === 0 && { succeededAt: this.#now() / 1_000 }) };
  }

  finished(results: readonly Pick<RowResult, 'operation' | 'outcome' | 'code'>[]): void {
    for (const { operation, outcome, code } of results) {
      const labels = {
        operation: operationLabel(operation, this.options.operations),
        outcome,
        code: codeLabel(code),
      };
      const key = `${labels.operation} ${outcome} ${labels.code}`;
      const counted = this.rows.get(key);
      if (counted === undefined) this.rows.set(key, { labels, rows: 1 });
      else counted.rows += 1;
    }
  }

  get pace(): Pace | undefined {
    return this.paceOfRun() ?? this.paceOfWorker();
  }

  /** Rows without a result, of the runs that are going here. */
  get waitingRows(): number {
    return [...this.#going].reduce((sum, waitingRows) => sum + waitingRows(), this.#left);
  }
}

function countUp<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Whether a run that has ended so can be gone on with. */
function isOpen(result: RunResult): boolean {
  return result !== 'succeeded' && result !== 'rows_failed' && result !== 'cancelled';
}

/**
 * What a value of a label counts as that is not on a list known here: each that an API, or a worker of another version, comes
 * up with would be a time series of its own in Prometheus, for ever.
 */
export const other = 'other';

/** Codes of results, as docs/report.md and docs/api-client.md explain them. */
const codes: ReadonlySet<string> = new Set(rowCodes);

export function codeLabel(code: string): string {
  return codes.has(code) ? code : other;
}

/** @param operation empty when the row does not say a known one */
export function operationLabel(operation: string, known: readonly Operation[]): string {
  if (operation === '') return 'none';
  return findOperation(known, operation) === undefined ? other : operation;
}

/** Of an HTTP answer: those that are registered, and 499, which gateways give. @param status undefined: none came */
export function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return status === 499 || STATUS_CODES[status] !== undefined ? String(status) : other;
}
