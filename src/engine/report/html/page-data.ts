import type { CodeAdvice } from '../../../domain/codes.ts';
import type { Outcome, StopManner } from '../../../domain/terms.ts';
import type { PlannedOperation } from '../../rows/row.ts';
import type { RunCheck } from '../check-file.ts';
import type { NextStep, RunPhase } from '../next-steps.ts';
import type { RatePoint } from '../rate-history.ts';
import type { RowStep } from '../row-steps.ts';
import type { RunSummary } from '../summary.ts';

/** Written by Node, read by the page. */
export interface PageContent {
  readonly data: PageData;
  /** Each is the JSON of a `RowPortion`, gzipped, in base64. */
  readonly portions: readonly string[];
}

export interface PageData {
  readonly version: 1;
  readonly run: PageRun;
  readonly summary: RunSummary;
  readonly steps: readonly NextStep[];
  readonly operations: Readonly<Record<string, OperationWords>>;
  /** Keys are codes. */
  readonly advice: Readonly<Record<string, PageAdvice>>;
  readonly messages: readonly MessageGroup[];
  readonly rate: readonly RatePoint[];
  readonly latency: LatencySeries;
  readonly rows: PageRows;
  /** The last check of the run. */
  readonly check?: RunCheck;
}

export type ReportedOperation = Pick<PlannedOperation, 'name' | 'thing' | 'done' | 'subject' | 'columns'>;

export type OperationWords = Pick<PlannedOperation, 'thing' | 'done'>;

export interface PageAdvice extends CodeAdvice {
  readonly step: RowStep;
}

/** Rows of one code whose messages differ only by their numbers. */
export interface MessageGroup {
  readonly outcome: Outcome;
  readonly code: string;
  /** A `messagePattern`; empty for rows without a message, and for rare messages. */
  readonly message: string;
  readonly count: number;
  readonly unclear: number;
}

/** What the summary of a run lacks. */
export interface PageRun {
  readonly id: string;
  /** In words: `halted`, `gave up`. */
  readonly state: string;
  readonly phase: RunPhase;
  /** Absent while the run has not ended. */
  readonly manner?: StopManner;
  readonly reason?: string;
  readonly baseUrl: string;
  readonly by?: string;
  /** The user's `--reason`. */
  readonly purpose?: string;
  readonly stops: readonly PageStop[];
  readonly writtenAt: string;
}

export interface PageStop {
  /** ISO 8601 UTC. */
  readonly from: string;
  readonly to: string;
  readonly state: string;
  readonly reason?: string;
}

/** A value for each stretch of equal length; null without calls. */
export interface LatencySeries {
  /** Start of the first stretch, milliseconds since 1970; 0 without calls. */
  readonly from: number;
  readonly stretchMs: number;
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  /** A row counts where its first attempt started. */
  readonly failed: readonly number[];
}

export interface PageRows {
  readonly columns: readonly PageColumn[];
  /** Clears a field when the rows are fed back. */
  readonly clearToken: string;
}

export interface PageColumn {
  readonly kind: 'fact' | 'result' | 'cell';
  /** A `FactColumn`, or the header of a cell in a manifest that feeds the rows back. */
  readonly name: string;
  /** What a column is for: `subject` cells identify what rows act on, `further` columns of results stand last. */
  readonly role?: 'subject' | 'operation' | 'further';
}

export type PageValue = string | number | null;

/** An array for each column, because similar values compress better side by side. */
export type RowPortion = readonly (readonly PageValue[])[];
