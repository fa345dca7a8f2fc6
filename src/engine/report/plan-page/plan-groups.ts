import { count, counted } from '../../../base/text/format.ts';
import { deedText, type RowKind, verbOf } from '../../rows/row-kind.ts';
import type { PlanPageData, PlanPageOperation } from './plan-page-data.ts';

/** Rows that the reader can choose. `act` is followed by the name of the operation. */
export type PlanGroup = 'all' | `act ${string}` | 'clears' | 'warned' | 'partial' | Exclude<RowKind, 'act'>;

/** A row, as far as its groups depend on it. */
export interface GroupedRow {
  readonly kind: RowKind;
  /** The name of the row's operation. */
  readonly operation: string;
  readonly clears: boolean;
  readonly isWarned: boolean;
  readonly isPartial: boolean;
}

export interface CountedGroup {
  readonly group: PlanGroup;
  readonly rows: number;
  /** The words that follow the number of rows: `edits` in `20 edits`. */
  readonly name: string;
  /** The color of the group: a class of the style sheet. */
  readonly tone: string;
}

/** The groups of a plan's rows, in the order of the page, without empty ones. */
export function planGroups({ counts, operations }: PlanPageData): readonly CountedGroup[] {
  const { kinds, clears, warned, partial, rows } = counts;
  const groups: readonly CountedGroup[] = [
    group('invalid', kinds.invalid, 'invalid'),
    ...operations.map((operation) =>
      group(`act ${operation.name}`, operation.acts, verbOf(operation) + pluralEnding(operation.acts)),
    ),
    group('edit', kinds.edit, `edit${pluralEnding(kinds.edit)}`),
    group('clears', clears, clears === 1 ? 'clears a field' : 'clear a field'),
    group('warned', warned, warned === 1 ? 'has a warning' : 'have warnings'),
    group('partial', partial, partial === 1 ? 'leaves fields out' : 'leave fields out'),
    group('duplicate', kinds.duplicate, `duplicate${pluralEnding(kinds.duplicate)}`),
    group('superseded', kinds.superseded, 'replaced by a later row'),
    group('done', kinds.done, 'done before'),
    group('as wanted', kinds['as wanted'], 'already so'),
  ];
  return [group('all', rows, `row${pluralEnding(rows)}`), ...groups.filter((each) => each.rows > 0)];
}

export function isInPlanGroup(wanted: string, { kind, operation, ...row }: GroupedRow): boolean {
  if (wanted === 'all') return true;
  if (wanted === 'clears') return row.clears;
  if (wanted === 'warned') return row.isWarned;
  if (wanted === 'partial') return row.isPartial;
  return wanted === (kind === 'act' ? `act ${operation}` : kind);
}

/** What a row does, in a word: `restore`, `edit`, `already so`. */
export function kindText(
  kind: RowKind,
  operation: { readonly name: string; readonly thing: string } | undefined,
): string {
  if (kind === 'act') return operation === undefined ? 'call' : verbOf(operation);
  return kindTexts[kind];
}

/** The color of a group: a class of the style sheet. */
export function toneOf(group: string): string {
  // An invalid row keeps the whole plan from being run, so it looks worse than in a report.
  return group === 'invalid' ? 'bad' : (group.split(' ', 1)[0] ?? '');
}

const kindTexts = {
  edit: 'edit',
  invalid: 'invalid',
  duplicate: 'duplicate',
  superseded: 'replaced',
  done: 'done before',
  'as wanted': 'already so',
} as const satisfies Record<Exclude<RowKind, 'act'>, string>;

function group(name: PlanGroup, rows: number, text: string): CountedGroup {
  return { group: name, rows, name: text, tone: toneOf(name) };
}

function pluralEnding(rows: number): string {
  return rows === 1 ? '' : 's';
}

/** What the calls of a plan will do: `restore 1,000 evaluations and update 198 soundboards`. */
export function deedsText(operations: readonly PlanPageOperation[]): string {
  const deeds = operations
    .filter(({ calls }) => calls > 0)
    .map((operation) => deedText(operation, counted(operation.entries, operation.thing)));
  const last = deeds.pop() ?? 'call nothing';
  return deeds.length === 0 ? last : `${deeds.join(', ')} and ${last}`;
}

export function callCount(operations: readonly PlanPageOperation[]): string {
  return counted(
    operations.reduce((sum, { calls }) => sum + calls, 0),
    'call',
  );
}

/** The rows of a group, in words: `20 edits`. */
export function rowsText({ rows, name }: CountedGroup): string {
  return `${count(rows)} ${name}`;
}
