import type { RowProblem } from '../../rows/problem.ts';
import type { PlannedOperation } from '../../rows/row.ts';
import type { RowKind } from '../../rows/row-kind.ts';

/** Written by Node, read by the page. */
export interface PlanPageContent {
  readonly data: PlanPageData;
  /** Each is an array for each column, as gzipped JSON in base64. */
  readonly portions: readonly string[];
}

export interface PlanPageData extends PlanFacts {
  readonly version: 1;
  readonly operations: readonly PlanPageOperation[];
  /** Of rows. */
  readonly counts: PlanCounts;
  readonly columns: readonly PlanColumn[];
}

/** What the rows alone do not say. */
export interface PlanFacts {
  readonly source: { readonly name: string; readonly format: string; readonly sheet?: string };
  readonly target?: PlanTarget | undefined;
  readonly rate?: { readonly perSecond: number; readonly isWanted: boolean } | undefined;
  /** Why the plan can't be run; empty if it can. */
  readonly refusals: readonly string[];
  readonly warnings: readonly string[];
  /** The run that had the same manifest. */
  readonly earlier?: { readonly id: string; readonly state: string } | undefined;
  /** Lists in words: `deleted evaluations`. */
  readonly compared?: readonly { readonly list: string; readonly listed: number }[] | undefined;
  /** Rows that `--where` left out. */
  readonly leftOut: number;
  /** Columns that are only kept for the report. */
  readonly keptColumns: readonly string[];
  /** ISO 8601 UTC. */
  readonly madeAt: string;
  readonly madeBy?: string | undefined;
  readonly end: PlanEnd;
}

export interface PlanTarget {
  readonly baseUrl: string;
  readonly rateGroup?: string | undefined;
  readonly isNew: boolean;
  /** Without its password. */
  readonly proxy?: string | undefined;
}

/** What identifies the plan, and what to type next. */
export interface PlanEnd {
  readonly sha256: string;
  /** What has the digest: `week-47.cqplan`. */
  readonly of: string;
  /** Runs the plan, or makes it again if it is not ready. Absent for a run that waits for an answer. */
  readonly command?: string | undefined;
  readonly note?: string | undefined;
}

export interface PlanPageOperation extends Pick<PlannedOperation, 'name' | 'thing' | 'done' | 'subject'> {
  readonly fields: readonly { readonly name: string; readonly required: boolean }[];
  /** Where its entries are listed, in words: `deleted evaluations`. */
  readonly list?: string;
  /** Rows that are called. */
  readonly calls: number;
  /** What they act on: several rows may change one entry. */
  readonly entries: number;
  /** Called rows that change no field. */
  readonly acts: number;
}

export interface PlanCounts {
  readonly rows: number;
  readonly kinds: Readonly<Record<RowKind, number>>;
  /** Edits that empty a field. */
  readonly clears: number;
  readonly warned: number;
  /** Called rows without a field that the API may reset then. */
  readonly partial: number;
  /** Edits of which all old values are known. */
  readonly undoable: number;
  /** Edits of which some are known. */
  readonly partlyUndoable: number;
}

export type PlanColumn =
  | { readonly kind: 'fact'; readonly name: keyof PackedFacts }
  /** A `PackedField` of rows whose operation has the field. */
  | { readonly kind: 'field'; readonly name: string }
  /** A `PackedCell`; the field tells where a text is that the cell has, too. */
  | { readonly kind: 'cell'; readonly name: string; readonly field?: string };

/** Absent: null. */
export interface PackedFacts {
  readonly row: number;
  /** Where it begins in the manifest. */
  readonly line: number;
  readonly kind: RowKind;
  /** An index of the operations. */
  readonly operation: number | null;
  readonly compared: 1 | null;
  /** Why a row that can be called is not called. */
  readonly why: string | null;
  readonly problems: readonly RowProblem[] | null;
  readonly warnings: readonly RowWarning[] | null;
  /** Fields that the API may reset, because the row leaves them out. */
  readonly missing: readonly string[] | null;
  /** A template, see `templateOf`. */
  readonly request: string | null;
}

/** A value, or with its old value, beside which it compresses best. */
export type PackedField = string | null | readonly [value: string, old: string];

/** 0: the value of its field. 1: the old value. */
export type PackedCell = string | null | 0 | 1;

/** Of a row that is called nevertheless. */
export interface RowWarning {
  /** Absent for the whole row. */
  readonly field?: string;
  readonly text: string;
}
