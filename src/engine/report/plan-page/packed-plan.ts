import { oldNameOf } from '../../operation/field-names.ts';
import { listedWords } from '../../operation/list-definition.ts';
import { findOperation, type Operation } from '../../operation/operation.ts';
import { requestText } from '../../operation/request-definition.ts';
import { requestOfValues } from '../../operation/shown-request.ts';
import { decidedResult } from '../../rows/decided-result.ts';
import type { HeadOperation, RowsHead } from '../../rows/head.ts';
import type { CallableRow, PlannedRow } from '../../rows/row.ts';
import { subjectsOf } from '../../rows/row-counts.ts';
import { changesOf, missingFields, type RowKind, rowKindOf } from '../../rows/row-kind.ts';
import { RowPacks } from '../html/row-packs.ts';
import type {
  PackedCell,
  PackedFacts,
  PackedField,
  PlanColumn,
  PlanCounts,
  PlanFacts,
  PlanPageContent,
  PlanPageOperation,
  RowWarning,
} from './plan-page-data.ts';
import { templateOf } from './request-template.ts';
import { RowWarnings } from './row-warnings.ts';

export interface PlanPageOptions {
  readonly head: RowsHead;
  readonly operations: readonly Operation[];
  readonly mostRows?: number;
}

/** Collects the rows of a plan for its page. */
export class PackedPlan {
  readonly #head: RowsHead;
  readonly #operations: readonly Operation[];
  readonly #fields: readonly string[];
  readonly #columns: readonly PlanColumn[];
  readonly #packs: RowPacks;
  readonly #warnings: RowWarnings;
  readonly #acts = new Map<string, number>();
  readonly #kinds: Record<RowKind, number> = {
    act: 0,
    edit: 0,
    invalid: 0,
    duplicate: 0,
    superseded: 0,
    done: 0,
    'as wanted': 0,
  };
  #rows = 0;
  #clears = 0;
  #warned = 0;
  #partial = 0;
  #undoable = 0;
  #partlyUndoable = 0;

  constructor({ head, operations, mostRows }: PlanPageOptions) {
    this.#head = head;
    this.#operations = operations;
    this.#packs = new RowPacks(mostRows);
    this.#warnings = new RowWarnings(head.counts.conflicts > 0);
    this.#fields = [...new Set(head.operations.flatMap(({ fields }) => fields.map(({ name }) => name)))];
    this.#columns = [
      ...factNames.map((name) => ({ kind: 'fact', name }) as const),
      ...this.#fields.map((name) => ({ kind: 'field', name }) as const),
      ...head.columns.map(({ title, field }) => ({
        kind: 'cell' as const,
        name: title,
        ...(field !== undefined && { field }),
      })),
    ];
  }

  async add(rows: readonly PlannedRow[]): Promise<void> {
    for (const row of rows) {
      const kind = rowKindOf(row);
      const warnings = row.kind === 'callable' ? this.#warningsOf(row) : [];
      this.#count(row, kind, warnings);
      await this.#packs.add(kind === 'invalid' || warnings.length > 0, () => [
        ...Object.values(this.#factsOf(row, kind, warnings)),
        ...this.#fields.map((name) => fieldOf(row, name)),
        ...this.#head.columns.map(({ field }, place) => cellOf(row, field, place)),
      ]);
    }
  }

  /** The content of the page. Call this after all rows were added. */
  async content(facts: PlanFacts): Promise<PlanPageContent> {
    const counts: PlanCounts = {
      rows: this.#rows,
      kinds: this.#kinds,
      clears: this.#clears,
      warned: this.#warned,
      partial: this.#partial,
      undoable: this.#undoable,
      partlyUndoable: this.#partlyUndoable,
    };
    const operations = this.#head.operations.map((operation) => this.#pageOperation(operation));
    const data = { version: 1, ...facts, operations, counts, columns: this.#columns } as const;
    return { data, portions: await this.#packs.end() };
  }

  #pageOperation({ name, thing, done, subject, fields, counts }: HeadOperation): PlanPageOperation {
    const list = findOperation(this.#operations, name)?.list;
    return {
      name,
      thing,
      ...(done !== undefined && { done }),
      subject,
      fields: fields.map(({ name: field, required }) => ({ name: field, required })),
      ...(list !== undefined && { list: listedWords(list) }),
      calls: counts.callable,
      entries: subjectsOf(counts),
      acts: this.#acts.get(name) ?? 0,
    };
  }

  #count(row: PlannedRow, kind: RowKind, warnings: readonly RowWarning[]): void {
    this.#rows += 1;
    this.#kinds[kind] += 1;
    if (warnings.length > 0) this.#warned += 1;
    if (row.kind !== 'callable') return;
    if (missingFields(row).length > 0) this.#partial += 1;
    if (kind === 'act') {
      this.#acts.set(row.operation.name, (this.#acts.get(row.operation.name) ?? 0) + 1);
      return;
    }
    const changes = changesOf(row);
    const known = changes.filter(({ old }) => old !== undefined).length;
    if (known === changes.length) this.#undoable += 1;
    else if (known > 0) this.#partlyUndoable += 1;
    if (changes.some((change) => change.new === '')) this.#clears += 1;
  }

  #factsOf(row: PlannedRow, kind: RowKind, warnings: readonly RowWarning[]): PackedFacts {
    const operation = this.#head.operations.findIndex(({ name }) => name === row.operation?.name);
    return {
      row: row.row,
      line: row.line,
      kind,
      operation: operation < 0 ? null : operation,
      compared: row.kind !== 'invalid' && row.compared ? 1 : null,
      why: row.kind === 'left out' ? whyText(row) : null,
      problems: row.kind === 'invalid' ? row.problems : null,
      warnings: nullIfEmpty(warnings),
      missing: row.kind === 'callable' ? nullIfEmpty(missingFields(row)) : null,
      request: row.kind === 'callable' ? this.#requestOf(row) : null,
    };
  }

  #warningsOf(row: CallableRow): readonly RowWarning[] {
    return this.#warnings.warningsOf(row, findOperation(this.#operations, row.operation.name));
  }

  #requestOf(row: CallableRow): string {
    const { operation, values } = row;
    const request = requestOfValues(this.#operations, { operation: operation.name, values });
    return templateOf(
      requestText(request),
      operation.fields.map(({ name }) => values[name]),
    );
  }
}

/** The names of the facts, in the order of `#factsOf`. */
const factNames: readonly (keyof PackedFacts)[] = [
  'row',
  'line',
  'kind',
  'operation',
  'compared',
  'why',
  'problems',
  'warnings',
  'missing',
  'request',
];

function nullIfEmpty<Item>(items: readonly Item[]): readonly Item[] | null {
  return items.length > 0 ? items : null;
}

function whyText(row: PlannedRow & { kind: 'left out' }): string {
  if (row.because.why === 'duplicate') return `same request as row ${row.because.of}, which is called`;
  if (row.because.why === 'as wanted') return 'the entry is so already: not called';
  return decidedResult(row)?.message ?? '';
}

function fieldOf(row: PlannedRow, name: string): PackedField {
  if (row.kind === 'invalid') return null;
  const [value, old] = [row.values[name], row.old?.[name]];
  if (value === undefined) return null;
  return old === undefined ? value : [value, old];
}

function cellOf(row: PlannedRow, field: string | undefined, place: number): PackedCell {
  const cell = row.cells[place] ?? null;
  if (cell === null || field === undefined || row.kind === 'invalid') return cell;
  if (cell === row.values[field]) return 0;
  const named = Object.entries(row.old ?? {}).find(([name]) => oldNameOf(name) === field);
  return named && named[1] === cell ? 1 : cell;
}
