import { withScope } from '../../../base/async/scope.ts';
import type { Digest } from '../../../base/disk/hash-file.ts';
import { stringifyJson } from '../../../base/text/json.ts';
import { thisActor } from '../../../domain/actor.ts';
import type { ScanSummary } from '../../manifest/check/scan.ts';
import type { ManifestRow } from '../../manifest/manifest.ts';
import type { CellTexts, DecidedRow } from '../../rows/row.ts';
import { type RowCounts, sumOf } from '../../rows/row-counts.ts';
import { RowsSummary, type SummarizedRows } from '../../rows/rows-summary.ts';
import { type HeadFacts, RowsWriter, type WrittenRows } from '../../rows/rows-writer.ts';
import type { SubjectIndex } from '../../rows/subject-index.ts';
import type { RunOptions } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { ChangeFile, type Changes } from './change-file.ts';
import { type CheckedManifest, type CheckInput, checkManifest } from './check-manifest.ts';
import type { NotedManifest } from './note-file.ts';
import type { OpenedManifest } from './open-manifest.ts';
import { problemCollector } from './problem-file.ts';

export interface PlannedRows extends CheckedManifest, WrittenRows {}

export interface PlanManifestInput extends CheckInput {
  readonly digest: Digest;
  /** The options of the run. A check without a run has only the known options. */
  readonly options: Partial<RunOptions>;
  /** The permits of the user, only for a plan that is written to a file. */
  readonly consent?: ((scan: ScanSummary) => HeadFacts['consent']) | undefined;
}

/**
 * @param path of the file of rows
 * @throws the errors of `openPlannedManifest`
 */
export function planManifest(store: RunStore, input: PlanManifestInput, path: string): Promise<PlannedRows> {
  return withScope(async (defer) => {
    const writer = new RowsWriter(path);
    defer(() => writer.discard());
    const texts = new CellTextReader();
    const checked = await checkManifest(store, input, (row, { cells }, columns) =>
      writer.add(row, texts.textsByColumn(cells, columns)),
    );
    return { ...checked, ...(await writer.end(factsOf(input, checked), checked.scan.perOperation)) };
  });
}

function factsOf(
  { name, digest, reading, options, consent }: PlanManifestInput,
  { manifest, prepare, scan, choice, doneRows, compared }: CheckedManifest & OpenedManifest,
): HeadFacts {
  const { format, delimiter, sheet, encoding } = manifest;
  const { clearToken, ...given } = reading;
  return {
    source: {
      name,
      ...digest,
      format,
      ...(delimiter !== undefined && { delimiter }),
      ...(sheet && { sheet: sheet.name }),
      ...(encoding !== undefined && { encoding }),
    },
    reading: JSON.parse(JSON.stringify(given)),
    clear_token: clearToken,
    columns: manifest.columns().map((title) => {
      const field = prepare.fieldOf(title);
      return prepare.knownNames.has(field) ? { title, field } : { title };
    }),
    defaults: Object.fromEntries(
      [...prepare.defaults].map(([field, value]) => [field, cellText(value) ?? '']),
    ),
    counts: sumOf([scan]),
    left_out: scan.leftOut,
    ...(doneRows && { skip_done: [...doneRows.sources] }),
    ...(compared && { compared: compared.lists }),
    warnings: scan.warnings.map(({ code, message }) => ({ code, message })),
    operation_source: choice.source,
    ...planOrigin(options, consent?.(scan)),
  };
}

export function planOrigin(
  options: Partial<RunOptions>,
  consent?: HeadFacts['consent'],
): Pick<HeadFacts, 'options' | 'consent' | 'made_at' | 'made_by'> {
  return {
    options: JSON.parse(JSON.stringify(options)),
    ...(consent && { consent }),
    made_at: new Date().toISOString(),
    made_by: thisActor(),
  };
}

/** Writes rows that were decided earlier, and describes them as a plan does. */
export class DecidedRowsWriter {
  readonly #writer: RowsWriter;
  readonly #subjects: SubjectIndex | undefined;
  readonly #summary = new RowsSummary();
  readonly #problems: ReturnType<typeof problemCollector>;
  readonly #changes: ChangeFile;

  /**
   * @param path of the file of rows
   * @param noted names the files about rows
   * @param subjects finds callable rows with the subject of an earlier one. Default: all have different subjects
   */
  constructor(path: string, noted: NotedManifest, subjects?: SubjectIndex) {
    this.#writer = new RowsWriter(path);
    this.#subjects = subjects;
    this.#problems = problemCollector(noted);
    this.#changes = new ChangeFile(noted);
  }

  /** @throws the errors of writing, and a `SystemError` of the index */
  async add(row: DecidedRow, cells: CellTexts): Promise<void> {
    this.#summary.add(row, row.kind === 'callable' && this.#subjects?.add(row) === true);
    if (row.kind === 'invalid') await this.#problems.add(row);
    await this.#changes.add(row);
    await this.#writer.add(row, cells);
  }

  /** @param factsOf the head without the counts, which it may depend on */
  async end(factsOf: (counts: RowCounts) => Omit<HeadFacts, 'counts'>): Promise<PlannedRows> {
    const summary = this.#summary.summary();
    const counts = sumOf([summary]);
    const written = await this.#writer.end({ ...factsOf(counts), counts }, summary.perOperation);
    return plannedRows(
      written,
      { ...summary, changedSubjects: this.#subjects?.changedSubjects ?? 0 },
      await this.#problems.end(),
      await this.#changes.end(),
    );
  }

  /** Removes what is left of an unfinished file. */
  discard(): Promise<void> {
    return this.#writer.discard();
  }
}

function plannedRows(
  written: WrittenRows,
  summary: SummarizedRows & Pick<ScanSummary, 'changedSubjects'>,
  problems: CheckedManifest['problems'],
  changes: Changes,
): PlannedRows {
  const { source, columns, left_out: leftOut, warnings, operation_source, compared } = written.head;
  const { name, format, sheet } = source;
  return {
    ...written,
    manifest: {
      name,
      format,
      ...(sheet !== undefined && {
        sheet: { name: sheet, others: [], hidden: undefined, hiddenColumns: [] },
      }),
    },
    scan: {
      ...summary,
      firstConflicts: [],
      leftOut,
      roundedIds: [],
      choice: undefined,
      warnings,
      columns: columns.map(({ title }) => title),
      meanings: columns.map(({ title: column, field }) =>
        field === undefined ? { column } : { column, field },
      ),
    },
    choice: { source: operation_source },
    problems,
    ...(compared && { compared: { lists: compared, ...changes } }),
  };
}

/** Puts cells into the order of the columns, which JSON shows one after the other. */
class CellTextReader {
  readonly #indexes = new Map<string, number>();

  textsByColumn(cells: ManifestRow['cells'], columns: readonly string[]): CellTexts {
    for (let index = this.#indexes.size; index < columns.length; index += 1)
      this.#indexes.set(columns[index] ?? '', index);
    const texts: (string | null)[] = [];
    for (const title in cells) {
      const text = cellText(cells[title]);
      const index = this.#indexes.get(title);
      if (text === null || index === undefined) continue;
      while (texts.length < index) texts.push(null);
      texts[index] = text;
    }
    return texts;
  }
}

function cellText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : stringifyJson(value);
}
