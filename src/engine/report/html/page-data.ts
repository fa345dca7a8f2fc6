import type { CodeAdvice, NextStep } from '../../../domain/codes.ts';
import type { Outcome } from '../../../domain/terms.ts';
import type { PlannedOperation } from '../../rows/row.ts';
import type { RatePoint } from '../rate-history.ts';
import type { RunSummary } from '../summary.ts';

/** Written by Node, read by the page. */
export interface PageContent {
  readonly data: PageData;
  /** Each portion is the JSON of a `RowPortion`, gzipped, in base64. */
  readonly portions: readonly string[];
}

export interface PageData {
  readonly version: 1;
  readonly run: PageRun;
  readonly summary: RunSummary;
  /** Operations by name. */
  readonly operations: Readonly<Record<string, OperationWords>>;
  /** For each code that occurs. */
  readonly advice: Readonly<Record<string, PageAdvice>>;
  /** Counts all rows of the run. */
  readonly messages: readonly MessageGroup[];
  readonly rate: readonly RatePoint[];
  readonly latency: LatencySeries;
  readonly rows: PageRows;
}

/** What the page needs to know of an operation. */
export type ReportedOperation = Pick<PlannedOperation, 'name' | 'thing' | 'done' | 'subject' | 'columns'>;

/** What an operation acts on, and what it has done to it. */
export type OperationWords = Pick<PlannedOperation, 'thing' | 'done'>;

export interface PageAdvice extends CodeAdvice {
  /** What to do with rows that failed with the code. */
  readonly step: NextStep;
}

/** The rows with the same outcome and code, and with messages that differ only by their numbers. */
export interface MessageGroup {
  readonly outcome: Outcome;
  readonly code: string;
  /** A `messagePattern`; empty for rows without a message, and for rare messages. */
  readonly message: string;
  readonly count: number;
  /** How many of them are unclear. */
  readonly unclear: number;
}

/** The facts of a run that its summary lacks. */
export interface PageRun {
  readonly id: string;
  readonly state: string;
  /** Whether the run calls further rows by itself, only when it is resumed, or never. */
  readonly phase: 'in progress' | 'stopped' | 'ended';
  /** The command that continues a stopped run. */
  readonly resume: string;
  /** The command that calls again the rows whose failures are transient. */
  readonly retry?: string;
  /** Why the run is in this state, if known. */
  readonly reason?: string;
  readonly baseUrl: string;
  readonly by?: string;
  /** Absent for a plan without approvals. */
  readonly approvedBy?: readonly string[];
  /** The user's `--reason`. */
  readonly purpose?: string;
  /** Between the start and the end of the run. */
  readonly stops: readonly PageStop[];
  /** When the page was written, ISO 8601 UTC. */
  readonly writtenAt: string;
}

/** A time in which a run was paused, interrupted, halted or failed. */
export interface PageStop {
  /** ISO 8601 UTC. */
  readonly from: string;
  readonly to: string;
  readonly state: string;
  /** Why the run stopped, if known. */
  readonly reason?: string;
}

/** A value for each stretch of equal length; null in a stretch without calls. */
export interface LatencySeries {
  /** Start of the first stretch, milliseconds since 1970; 0 without calls. */
  readonly from: number;
  readonly stretchMs: number;
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  /** Rows that failed, by the start of their first attempt. */
  readonly failed: readonly number[];
}

/** What the page needs to read its rows. */
export interface PageRows {
  readonly columns: readonly PageColumn[];
  /** The text of a cell that clears its field when the rows are fed back. */
  readonly clearToken: string;
}

export interface PageColumn {
  readonly kind: 'fact' | 'result' | 'cell';
  /** A `FactColumn`, or the header of a cell in a manifest that feeds the rows back. */
  readonly name: string;
  /** Whether the cells identify what rows act on, or name the operation. */
  readonly role?: 'subject' | 'operation';
}

/** Null without a value. */
export type PageValue = string | number | null;

/** By column: an array of values for each, because similar values compress better side by side. */
export type RowPortion = readonly (readonly PageValue[])[];
