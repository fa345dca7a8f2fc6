import { guardCell } from '../../../base/text/formula-guard.ts';
import { type RowResult, resultColumns } from '../../../domain/row-result.ts';
import { fieldNameOf } from '../../operation/field-names.ts';
import type { Operation } from '../../operation/operation.ts';
import { requestText } from '../../operation/request-definition.ts';
import type { CallableRow, PlannedRow } from '../../rows/row.ts';
import { changesOf } from '../../rows/row-kind.ts';
import type { ReportLine } from '../join-results.ts';
import { type RefeedOptions, RefeedRows } from '../refeed.ts';
import { columnsOf, messageOf } from '../report-columns.ts';
import type { PageColumn, PageContent, PageValue, ReportedOperation } from './page-data.ts';
import { RowPacks } from './row-packs.ts';
import { outcomesInNeed } from './verdict.ts';

export interface PackOptions {
  readonly refeed: Omit<RefeedOptions, 'guard'>;
  readonly operations: readonly ReportedOperation[];
  /** The request of a row. Undefined if the row's operation is not loaded. */
  readonly requestOf: (row: CallableRow) => ReturnType<Operation['request']> | undefined;
  readonly mostRows?: number;
}

/** The rows of a report with their results, packed for its page. */
export class PackedRows {
  readonly columns: readonly PageColumn[];
  readonly #refeed: RefeedRows;
  readonly #resultColumns: readonly string[];
  readonly #requestOf: PackOptions['requestOf'];
  readonly #packs: RowPacks;

  constructor({ refeed, operations, requestOf, mostRows }: PackOptions) {
    this.#packs = new RowPacks(mostRows);
    this.#requestOf = requestOf;
    // Cells are guarded as in the page's export, so that the page can distinguish an empty text from a text like the clear token.
    this.#refeed = new RefeedRows({ ...refeed, guard: guardCell });
    this.#resultColumns = columnsOf(operations);
    this.columns = [
      ...[...Object.keys(facts), 'request', 'changes'].map((name) => ({ kind: 'fact', name }) as const),
      ...furtherColumns.map(([name]) => ({ kind: 'fact', name, role: 'further' }) as const),
      ...this.#resultColumns.map((name) => ({ kind: 'result', name }) as const),
      ...this.#refeed.header.map((name) => ({
        ...cellColumn(name, operations),
        ...(this.#refeed.addedTitles.has(name) && { isAdded: true as const }),
      })),
    ];
  }

  async add(lines: readonly ReportLine[]): Promise<void> {
    for (const line of lines) await this.#packs.add(comesFirst(line.result), () => this.#valuesOf(line));
  }

  /** The packed rows in base64. Call this last. */
  end(): Promise<PageContent['portions']> {
    return this.#packs.end();
  }

  #valuesOf(line: ReportLine): readonly PageValue[] {
    const { row, result } = line;
    return [
      ...Object.values<Fact>(facts).map((fact) => fact(result) ?? null),
      showsRequest(result) ? this.#requestText(row) : '',
      comparedChanges(row),
      ...furtherColumns.map(([, member]) => pageValueOf(result[member])),
      ...this.#resultColumns.map((name) => result.columns?.[name] ?? ''),
      ...this.#refeed.cells(row, result.operation).cells,
    ];
  }

  #requestText(row: PlannedRow): string {
    const request = row.kind === 'callable' ? this.#requestOf(row) : undefined;
    return request === undefined ? '' : requestText(request);
  }
}

/** What a compared row changes of its entry: the JSON of `FieldChange[]`. Empty for other rows, whose cells have the old values, if any. */
function comparedChanges(row: PlannedRow): string {
  if (row.kind === 'left out' && row.because.why === 'as wanted') return '[]';
  return row.kind !== 'invalid' && row.compared ? JSON.stringify(changesOf(row)) : '';
}

function comesFirst({ outcome, unclear }: RowResult): boolean {
  return unclear || outcomesInNeed.includes(outcome);
}

/** Whether the request was sent, and may not have succeeded. */
function showsRequest({ outcome, attempts, unclear }: RowResult): boolean {
  return attempts > 0 && (outcome !== 'succeeded' || unclear);
}

type Fact = (result: RowResult) => string | number | undefined;

/** The facts of a result that the page gets. Times are milliseconds since 1970. */
const facts = {
  row: ({ row }) => row,
  operation: ({ operation }) => operation,
  outcome: ({ outcome }) => outcome,
  code: ({ code }) => code,
  message: messageOf,
  status: ({ httpStatus }) => httpStatus,
  attempts: ({ attempts }) => attempts,
  unclear: ({ unclear }) => (unclear ? 'unclear' : ''),
  started: ({ startedAt }) => timeOf(startedAt),
  duration: ({ durationMs }) => rounded(durationMs),
  /** The start of the last attempt, when there were earlier ones. */
  lastStarted: ({ earlier, finishedAt, durationMs }) => {
    const [finished, duration] = [timeOf(finishedAt), rounded(durationMs)];
    if (earlier === undefined || finished === undefined || duration === undefined) return undefined;
    return finished - duration;
  },
  duplicateOf: ({ duplicateOf }) => duplicateOf,
  earlier: ({ earlier }) => earlier && JSON.stringify(earlier),
  requestId: (result) => (showsRequest(result) ? result.requestId : undefined),
} satisfies Readonly<Record<string, Fact>>;

export type FactColumn = keyof typeof facts | 'request' | 'changes';

const membersOfFacts: ReadonlySet<string> = new Set<keyof RowResult>([
  ...(['row', 'operation', 'outcome', 'code', 'message', 'httpStatus', 'attempts', 'unclear'] as const),
  ...(['startedAt', 'finishedAt', 'durationMs', 'requestId'] as const),
]);

/** Columns of the report that are no facts of their own on the page: the page shows them behind the others. */
const furtherColumns = resultColumns.filter(([, member]) => !membersOfFacts.has(member));

function pageValueOf(value: unknown): PageValue {
  if (typeof value === 'number') return rounded(value) ?? null;
  return typeof value === 'string' || value === true ? String(value) : null;
}

/** A column with cells of the manifest. @param name the title of the column, which must match its field without `--map` */
function cellColumn(name: string, operations: readonly ReportedOperation[]): PageColumn {
  const field = fieldNameOf(name);
  const isSubject = operations.some(({ subject }) => subject === field);
  const role = isSubject ? 'subject' : field === 'operation' && 'operation';
  return { kind: 'cell', name, ...(role && { role }) };
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.max(0, Math.round(ms));
}

function timeOf(iso: string | undefined): number | undefined {
  const time = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(time) ? undefined : time;
}
