import type { RowProblem } from '../../rows/problem.ts';
import type { PlannedOperation } from '../../rows/row.ts';
import type { RowKind } from '../../rows/row-kind.ts';

/** What Node writes into the page of a plan, and its script reads. */
export interface PlanPageContent {
  readonly data: PlanPageData;
  /** The rows in portions. Each is an array for each column, as gzipped JSON in base64. */
  readonly portions: readonly string[];
}

export interface PlanPageData extends PlanFacts {
  readonly version: 1;
  readonly operations: readonly PlanPageOperation[];
  /** The counts of the plan's rows. */
  readonly counts: PlanCounts;
  readonly columns: readonly PlanColumn[];
}

/** What a plan says besides its rows. */
export interface PlanFacts {
  readonly source: { readonly name: string; readonly format: string; readonly sheet?: string };
  readonly target?: PlanTarget | undefined;
  readonly rate?: { readonly perSecond: number; readonly isWanted: boolean } | undefined;
  /** Why the plan can't be run; empty if it can. */
  readonly refusals: readonly string[];
  readonly warnings: readonly string[];
  /** An earlier run with the same manifest. */
  readonly earlier?: { readonly id: string; readonly state: string } | undefined;
  /** The lists with which rows were compared, in words: `deleted evaluations`. */
  readonly compared?: readonly { readonly list: string; readonly listed: number }[] | undefined;
  /** The number of rows that `--where` left out. */
  readonly leftOut: number;
  /** Columns that are only kept for the report. */
  readonly keptColumns: readonly string[];
  /** When the plan was made, ISO 8601 UTC. */
  readonly madeAt: string;
  readonly madeBy?: string | undefined;
  readonly end: PlanEnd;
}

export interface PlanTarget {
  readonly baseUrl: string;
  readonly rateGroup?: string | undefined;
  readonly isNew: boolean;
  /** The URL of the proxy, without its password. */
  readonly proxy?: string | undefined;
}

/** What identifies the plan, and what to type next. */
export interface PlanEnd {
  readonly sha256: string;
  /** The thing that has the digest: `week-47.cqplan`. */
  readonly of: string;
  /** The command that runs the plan, or makes it again if it is not ready. Absent for a run that waits for an answer. */
  readonly command?: string | undefined;
  readonly note?: string | undefined;
}

export interface PlanPageOperation extends Pick<PlannedOperation, 'name' | 'thing' | 'done' | 'subject'> {
  readonly fields: readonly { readonly name: string; readonly required: boolean }[];
  /** The list that has the operation's entries, in words: `deleted evaluations`. */
  readonly list?: string;
  /** The number of rows that are called. */
  readonly calls: number;
  /** The number of entries on which the calls act: several rows may change one entry. */
  readonly entries: number;
  /** The number of called rows that change no field. */
  readonly acts: number;
}

export interface PlanCounts {
  readonly rows: number;
  readonly kinds: Readonly<Record<RowKind, number>>;
  /** The number of edits that empty a field. */
  readonly clears: number;
  readonly warned: number;
  /** The number of called rows that leave out a field which the API may then reset. */
  readonly partial: number;
  /** The number of edits of which all old values are known. */
  readonly undoable: number;
  /** The number of edits of which only some old values are known. */
  readonly partlyUndoable: number;
}

export type PlanColumn =
  | { readonly kind: 'fact'; readonly name: keyof PackedFacts }
  /** A column with a `PackedField` for each row whose operation has the field. */
  | { readonly kind: 'field'; readonly name: string }
  /** A column with a `PackedCell` for each row. The field tells where a text is that the cell has, too. */
  | { readonly kind: 'cell'; readonly name: string; readonly field?: string };

/** The facts of a row. Null means that the row has no such fact. */
export interface PackedFacts {
  readonly row: number;
  /** The line of the manifest where the row begins. */
  readonly line: number;
  readonly kind: RowKind;
  /** The row's operation, as an index of the operations. */
  readonly operation: number | null;
  readonly compared: 1 | null;
  /** Why a row that can be called is not called. */
  readonly why: string | null;
  readonly problems: readonly RowProblem[] | null;
  readonly warnings: readonly RowWarning[] | null;
  /** Fields that the API may reset, because the row leaves them out. */
  readonly missing: readonly string[] | null;
  /** The request of the row as a template (see `templateOf`). */
  readonly request: string | null;
}

/** The value of a field, or with its old value, beside which it compresses best. */
export type PackedField = string | null | readonly [value: string, old: string];

/** The text of a cell. 0 stands for the value of its field, 1 for the old value. */
export type PackedCell = string | null | 0 | 1;

/** A warning about a row that is called nevertheless. */
export interface RowWarning {
  /** The field with which something is odd. Absent for the whole row. */
  readonly field?: string;
  readonly text: string;
}
