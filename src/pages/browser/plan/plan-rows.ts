import { oldNameOf } from '../../../engine/operation/field-names.ts';
import { type GroupedRow, isInPlanGroup } from '../../../engine/report/plan-page/plan-groups.ts';
import type {
  PackedCell,
  PackedFacts,
  PackedField,
  PlanColumn,
  PlanPageContent,
  PlanPageData,
  PlanPageOperation,
} from '../../../engine/report/plan-page/plan-page-data.ts';
import { requestOfTemplate } from '../../../engine/report/plan-page/request-template.ts';
import { changesOf, type FieldChange } from '../../../engine/rows/row-kind.ts';
import { searchOf, unpackedPortion } from '../column.ts';

/** A row of a plan, as the page shows it. */
export interface PlanPageRow extends Omit<PackedFacts, 'operation' | 'compared'> {
  readonly operation: PlanPageOperation | undefined;
  readonly isCompared: boolean;
  /** What the row acts on. For an invalid row, the cell of it. */
  readonly subject: string;
  /** The values in the order of the operation's fields; undefined where the row has no value. */
  readonly values: readonly (string | undefined)[];
  readonly changes: readonly FieldChange[];
  /** The cells in the order of the manifest; undefined where the row has no cell. */
  readonly cells: readonly PlanPageCell[];
}

export interface PlanPageCell {
  readonly title: string;
  readonly field: string | undefined;
  readonly text: string | undefined;
}

type Fields = readonly (readonly [name: string, packed: PackedField])[];

/** The rows of a plan. A line of the table has one change of a row, or one problem; a row without has one line, too. */
export class PlanRows {
  readonly count: number;
  readonly #data: PlanPageData;
  readonly #facts: Readonly<Record<string, readonly unknown[]>>;
  /** The packed values of each operation's fields, by operation. */
  readonly #fields: readonly (readonly (readonly [name: string, packed: readonly unknown[]])[])[];
  readonly #cells: readonly {
    readonly column: PlanColumn & { kind: 'cell' };
    readonly packed: readonly unknown[];
  }[];
  /** The index of the row of each line. */
  readonly #rows: Uint32Array;
  readonly #parts: Uint32Array;
  /** The row that was read last, because lines of a row are asked for one after the other. */
  #lastRead: { readonly index: number; readonly row: PlanPageRow } | undefined;

  private constructor(data: PlanPageData, values: readonly (readonly unknown[])[], count: number) {
    this.count = count;
    this.#data = data;
    const valuesOf = (kind: PlanColumn['kind']) =>
      data.columns.flatMap((column, index) =>
        column.kind === kind ? [[column.name, values[index] ?? []] as const] : [],
      );
    this.#facts = Object.fromEntries(valuesOf('fact'));
    const fields = new Map(valuesOf('field'));
    this.#fields = data.operations.map((operation) =>
      operation.fields.map(({ name }) => [name, fields.get(name) ?? []] as const),
    );
    this.#cells = data.columns.flatMap((column, index) =>
      column.kind === 'cell' ? [{ column, packed: values[index] ?? [] }] : [],
    );
    const [rows, parts]: [number[], number[]] = [[], []];
    for (let index = 0; index < count; index += 1) {
      const { problems, changes, why } = this.row(index);
      const lines = why === null ? Math.max(1, problems?.length ?? changes.length) : 1;
      for (let part = 0; part < lines; part += 1) {
        rows.push(index);
        parts.push(part);
      }
    }
    this.#rows = Uint32Array.from(rows);
    this.#parts = Uint32Array.from(parts);
  }

  static async read({ data, portions }: PlanPageContent): Promise<PlanRows> {
    const unpacked = await Promise.all(portions.map((portion) => unpackedPortion<unknown>(portion)));
    const valuesOf = (index: number): readonly unknown[] =>
      ([] as unknown[]).concat(...unpacked.map((portion) => portion[index] ?? []));
    const numbers = valuesOf(data.columns.findIndex(({ kind, name }) => kind === 'fact' && name === 'row'));
    // Sort the rows as in the manifest: portions begin with the rows that need the reader.
    const order = [...numbers.keys()].sort((a, b) => Number(numbers[a]) - Number(numbers[b]));
    const values = data.columns.map((_, columnIndex) => {
      const read = valuesOf(columnIndex);
      return order.map((index) => read[index]);
    });
    return new PlanRows(data, values, order.length);
  }

  get operations(): readonly PlanPageOperation[] {
    return this.#data.operations;
  }

  get lines(): number {
    return this.#rows.length;
  }

  /** The row at an index. @param index of the row, in the order of the manifest */
  row(index: number): PlanPageRow {
    if (this.#lastRead?.index !== index) this.#lastRead = { index, row: this.#read(index) };
    return this.#lastRead.row;
  }

  rowOf(line: number): PlanPageRow {
    return this.row(this.indexOf(line));
  }

  /** The index of the row to which a line belongs. */
  indexOf(line: number): number {
    return this.#rows[line] ?? 0;
  }

  /** The index of the change or problem in a line. */
  partOf(line: number): number {
    return this.#parts[line] ?? 0;
  }

  /** The first line of the row with this number, or -1. */
  lineOf(number: number): number {
    const index = this.#facts['row']?.indexOf(number) ?? -1;
    return index < 0 ? -1 : this.#rows.indexOf(index);
  }

  /** The number of rows to which the lines belong. */
  rowsAmong(lines: Uint32Array): number {
    return new Set(lines.map((line) => this.indexOf(line))).size;
  }

  requestOf({ request, values }: PlanPageRow): string {
    if (request === null) return '';
    const [first = '', ...rest] = requestOfTemplate(request, values).split('\n');
    const [method, ...path] = first.split(' ');
    return [`${method} ${this.#data.target?.baseUrl ?? ''}${path.join(' ')}`, ...rest].join('\n');
  }

  /** The lines that the reader wants to see. @param q is searched in the columns and in all cells */
  select(q: string, group: string, columns: readonly { shown(line: number): string }[]): Uint32Array {
    const cells = {
      shown: (line: number) =>
        this.rowOf(line)
          .cells.map(({ text = '' }) => text)
          .join('\n'),
    };
    const isFound = searchOf(q, [...columns, cells]);
    const all = Uint32Array.from({ length: this.lines }, (_, line) => line);
    if (group === 'all' && q === '') return all;
    return all.filter((line) => isInPlanGroup(group, groupedRow(this.rowOf(line))) && isFound(line));
  }

  #read(index: number): PlanPageRow {
    const { operations } = this.#data;
    const fact = <Name extends keyof PackedFacts>(name: Name) =>
      (this.#facts[name]?.[index] ?? null) as PackedFacts[Name];
    const at = fact('operation') ?? -1;
    const operation = operations[at];
    const fields: Fields = (this.#fields[at] ?? []).map(([name, packed]) => [
      name,
      (packed[index] ?? null) as PackedField,
    ]);
    const isCompared = fact('compared') === 1;
    const given = textsOf(fields, 0);
    const cellsOf = () => this.#cellsOf(index, fields);
    return {
      row: fact('row'),
      line: fact('line'),
      kind: fact('kind'),
      why: fact('why'),
      problems: fact('problems'),
      warnings: fact('warnings'),
      missing: fact('missing'),
      request: fact('request'),
      operation,
      isCompared,
      subject: (operation && given[operation.subject]) ?? this.#subjectIn(cellsOf(), operation),
      values: fields.map(([, packed]) => textIn(packed, 0)),
      changes: operation
        ? changesOf({
            operation,
            values: given,
            old: textsOf(fields, 1),
            ...(isCompared && { compared: true }),
          })
        : [],
      get cells() {
        return cellsOf();
      },
    };
  }

  #cellsOf(index: number, fields: Fields): readonly PlanPageCell[] {
    return this.#cells.map(({ column: { name, field }, packed }) => {
      const cell = (packed[index] ?? null) as PackedCell;
      return { title: name, field, text: cellText(cell, field, fields) };
    });
  }

  #subjectIn(cells: readonly PlanPageCell[], operation: PlanPageOperation | undefined): string {
    const subjects = (operation === undefined ? this.operations : [operation]).map(({ subject }) => subject);
    return cells.find(({ field = '', text }) => subjects.includes(field) && text)?.text ?? '';
  }
}

function textsOf(fields: Fields, side: 0 | 1): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, packed] of fields) {
    const text = textIn(packed, side);
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

function cellText(cell: PackedCell, field: string | undefined, fields: Fields): string | undefined {
  if (cell === 0) return textIn(fields.find(([name]) => name === field)?.[1], 0);
  if (cell === 1) return textIn(fields.find(([name]) => oldNameOf(name) === field)?.[1], 1);
  return cell ?? undefined;
}

function textIn(packed: PackedField | undefined, side: 0 | 1): string | undefined {
  return typeof packed === 'string' ? [packed][side] : packed?.[side];
}

export function groupedRow({ kind, operation, changes, warnings, missing }: PlanPageRow): GroupedRow {
  return {
    kind,
    operation: operation?.name ?? '',
    clears: kind === 'edit' && changes.some((change) => change.new === ''),
    isWarned: warnings !== null,
    isPartial: missing !== null,
  };
}
