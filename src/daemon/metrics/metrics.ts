import { STATUS_CODES } from 'node:http';
import { rowCodes } from '../../domain/codes.ts';
import type { Pace } from '../../domain/pace.ts';
import type { RowResult } from '../../domain/row-result.ts';
import type { LimitedApi } from '../../domain/terms.ts';
import type { RequestObserver, SentRequest } from '../../engine/api/network/exchange.ts';
import { findOperation, type Operation } from '../../engine/operation/operation.ts';
import { leavesRows, type RunResult } from '../../engine/run/record/ending.ts';
import type { ObservedEnd, ObservedRun, RunObserver } from '../../engine/run/work/run-in-progress.ts';

/** Facts that outlive the process of the last run. */
export interface LastRun {
  /** When a run or a command last succeeded, in seconds since 1970. */
  readonly succeededAt?: number;
  /** When a run last ended with any result, in seconds since 1970. */
  readonly endedAt?: number;
  readonly durationSeconds?: number;
  /** The exit code of the last command that wrote the file. */
  readonly exitCode?: number;
}

export interface MetricsOptions {
  readonly version: string;
  readonly operations: readonly Operation[];
  /** Whether the process works on runs. If not, there are no metrics of runs and rows. */
  readonly runs: boolean;
  /** Whether the process is a command that ends. Its last metrics have the open rows of its runs, and the pace. */
  readonly isOneCommand?: boolean;
  /** Labels on every series, to distinguish the processes of a machine. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly now?: () => number;
}

export interface CountedRows {
  readonly labels: { readonly operation: string; readonly outcome: string; readonly code: string };
  rows: number;
}

/**
 * Counts a row where its result is written into the journal, and a request where it is made, so that sums over all machines count nothing
 * twice. Counts are plain numbers, because a row must cost next to nothing; only a scrape makes text of them.
 */
export class Metrics implements RunObserver {
  readonly options: MetricsOptions;
  readonly rows = new Map<string, CountedRows>();
  /** The number of requests by status label; `none` without an answer. */
  readonly requests = new Map<string, number>();
  readonly runs = new Map<RunResult, number>();
  rateGroup: string | undefined;
  paceOfWorker: () => Pace | undefined = () => undefined;
  paceOfRun: () => Pace | undefined = () => undefined;
  /** Whether the process takes rows. Undefined in processes that never do. */
  ready: () => boolean | undefined = () => undefined;
  /** The calls in flight. Undefined in a process that makes no calls. */
  inFlight: number | undefined;
  last: LastRun = {};
  onRequest: (seconds: number) => void = () => {};
  readonly #now: () => number;
  #changesLastRun = true;
  readonly #waitingRowsOfRuns = new Set<() => number>();
  /** The rows of ended runs that have no result. */
  #rowsOfEndedRuns = 0;

  constructor(options: MetricsOptions) {
    this.options = options;
    this.#now = options.now ?? Date.now;
  }

  observeRequests(): RequestObserver {
    this.inFlight ??= 0;
    return {
      started: () => {
        this.inFlight = (this.inFlight ?? 0) + 1;
      },
      ended: (sent) => {
        this.inFlight = (this.inFlight ?? 0) - 1;
        if (sent !== undefined) this.#requestSent(sent);
      },
    };
  }

  /** Shows the pace of a run, until no run is in progress here. */
  followRun({ rateGroup }: Pick<LimitedApi, 'rateGroup'>, pace: () => Pace | undefined): void {
    this.rateGroup = rateGroup;
    this.paceOfRun = pace;
  }

  #requestSent({ status, durationMs }: SentRequest): void {
    countUp(this.requests, statusLabel(status));
    this.onRequest(durationMs / 1_000);
  }

  runStarted(waitingRows: () => number): ObservedRun {
    this.#waitingRowsOfRuns.add(waitingRows);
    return {
      runEnded: (end) => {
        this.#waitingRowsOfRuns.delete(waitingRows);
        if (!this.options.isOneCommand && this.#waitingRowsOfRuns.size === 0)
          this.paceOfRun = () => undefined;
        if (end === undefined) return;
        if (this.options.isOneCommand && leavesRows(end.result)) this.#rowsOfEndedRuns += waitingRows();
        this.#runEnded(end);
      },
    };
  }

  #runEnded({ result, durationMs }: ObservedEnd): void {
    countUp(this.runs, result);
    const endedAt = this.#now() / 1_000;
    this.last = {
      ...this.last,
      endedAt,
      ...(durationMs !== undefined && { durationSeconds: durationMs / 1_000 }),
      ...(result === 'succeeded' && { succeededAt: endedAt }),
    };
  }

  /** Notes that the run had already finished: the metrics of the last run stay. */
  foundFinishedRun(): void {
    this.#changesLastRun = false;
  }

  commandEnding(exitCode: number): void {
    if (!this.#changesLastRun) return;
    this.last = { ...this.last, exitCode, ...(exitCode === 0 && { succeededAt: this.#now() / 1_000 }) };
  }

  rowsFinished(results: readonly Pick<RowResult, 'operation' | 'outcome' | 'code'>[]): void {
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

  /** The rows without a result, in runs that this process works on. */
  get waitingRows(): number {
    return [...this.#waitingRowsOfRuns].reduce(
      (sum, waitingRows) => sum + waitingRows(),
      this.#rowsOfEndedRuns,
    );
  }
}

function countUp<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The label for unknown values, each of which would otherwise be a time series forever. */
export const otherLabel = 'other';

const codes: ReadonlySet<string> = new Set(rowCodes);

export function codeLabel(code: string): string {
  return codes.has(code) ? code : otherLabel;
}

/** @param operation empty when the row names no known operation */
export function operationLabel(operation: string, operations: readonly Operation[]): string {
  if (operation === '') return 'none';
  return findOperation(operations, operation) === undefined ? otherLabel : operation;
}

/** Registered statuses and 499 of gateways have labels. @param status undefined without an answer */
export function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return status === 499 || STATUS_CODES[status] !== undefined ? String(status) : otherLabel;
}
