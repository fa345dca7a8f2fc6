import type { CodeAdvice } from '../../../domain/code-table.ts';
import type { Outcome, StopManner } from '../../../domain/terms.ts';
import type { PlannedOperation } from '../../rows/row.ts';
import type { RunCheck } from '../check-file.ts';
import type { NextStep, RunPhase } from '../next-step.ts';
import type { RatePoint } from '../rate-history.ts';
import type { RowStep } from '../row-steps.ts';
import type { RunSummary } from '../summary.ts';

/** What Node writes into the page of a report, and its script reads. */
export interface PageContent {
  readonly data: PageData;
  /** The rows in portions. Each is the JSON of a `RowPortion`, gzipped, in base64. */
  readonly portions: readonly string[];
}

export interface PageData {
  readonly version: 1;
  readonly run: PageRun;
  readonly summary: RunSummary;
  readonly steps: readonly NextStep[];
  readonly operations: Readonly<Record<string, OperationWords>>;
  /** What to do about failed rows, by code. */
  readonly advice: Readonly<Record<string, PageAdvice>>;
  readonly messages: readonly MessageGroup[];
  readonly rate: readonly RatePoint[];
  readonly latency: LatencySeries;
  /** The calls of this run. Absent unless other runs may share the rate of its API: then `rate` has the calls of all. */
  readonly ownCalls?: StretchedCalls;
  readonly rows: PageRows;
  /** The last check of the run. */
  readonly check?: RunCheck;
}

export type ReportedOperation = Pick<PlannedOperation, 'name' | 'thing' | 'done' | 'subject' | 'columns'>;

export type OperationWords = Pick<PlannedOperation, 'thing' | 'done'>;

export interface PageAdvice extends CodeAdvice {
  readonly step: RowStep;
}

/** Rows of one code whose messages differ only by their numbers and identifiers. */
export interface MessageGroup {
  readonly outcome: Outcome;
  readonly code: string;
  /** A `messageKind`. Empty for rows without a message, and for other messages. */
  readonly kind: string;
  /** What the messages have in common, with `…` for each part that differs. */
  readonly message: string;
  /** The first message. Absent if all are alike. */
  readonly example?: { readonly row: number; readonly message: string };
  readonly count: number;
  readonly unclear: number;
  /** Present for the rows with rarer messages, which are counted together. */
  readonly isRest?: true;
}

/** What the page knows of a run besides the summary. */
export interface PageRun {
  readonly id: string;
  /** The state of the run, in words: `halted`, `gave up`. */
  readonly state: string;
  readonly phase: RunPhase;
  /** How the run ended. Absent while the run has not ended. */
  readonly manner?: StopManner;
  readonly reason?: string;
  readonly baseUrl: string;
  readonly by?: string;
  /** Why the user started the run, as `--reason` says. */
  readonly purpose?: string;
  readonly stops: readonly PageStop[];
  readonly writtenAt: string;
}

export interface PageStop {
  /** When the run stopped, ISO 8601 UTC. */
  readonly from: string;
  readonly to: string;
  readonly state: string;
  readonly reason?: string;
}

/** Latencies over time: a value for each stretch of equal length, null without calls. */
export interface LatencySeries {
  /** The start of the first stretch, milliseconds since 1970; 0 without calls. */
  readonly from: number;
  readonly stretchMs: number;
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  /** How many rows of each stretch failed. A row counts where its first attempt started. */
  readonly failed: readonly number[];
}

/** The accepted calls of one run over time: a number for each stretch of equal length. */
export interface StretchedCalls {
  /** The start of the first stretch, milliseconds since 1970. */
  readonly from: number;
  readonly stretchMs: number;
  readonly calls: readonly number[];
}

export interface PageRows {
  readonly columns: readonly PageColumn[];
  /** The text that clears a field when the rows are fed back. */
  readonly clearToken: string;
}

export interface PageColumn {
  readonly kind: 'fact' | 'result' | 'cell';
  /** The name of the column: a `FactColumn`, or the header of a cell in a manifest that feeds the rows back. */
  readonly name: string;
  /** What a column is for: `subject` cells identify what rows act on, `further` columns of results stand last. */
  readonly role?: 'subject' | 'operation' | 'further';
  /** Present for a cell that the manifest does not have: the report adds it, so that its rows read back as the same ones. */
  readonly isAdded?: true;
}

export type PageValue = string | number | null;

/** Some rows of a report, as an array for each column, because similar values compress better side by side. */
export type RowPortion = readonly (readonly PageValue[])[];
