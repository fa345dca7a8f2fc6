import { createHash } from 'node:crypto';
import { count } from '../../../base/text/format.ts';
import type { fieldFates, KnownFates, RowResult } from '../../../domain/terms.ts';
import { FailureTally } from '../../journal/failed-rows.ts';
import type { Journal } from '../../journal/journal.ts';
import type { UnderstoodRow } from '../../rows/row.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import { fateRefusals, fatesOf, updatesIn } from '../plan/readiness.ts';
import { haltedBy, tooMany } from '../record/guards.ts';
import type { OpenRun } from '../record/open-run.ts';
import { type CanaryOptions, type RunRecord, runKey } from '../record/record.ts';
import { unfinishedRows } from '../record/run-journal.ts';
import { lookUpTarget, rememberFates } from '../record/targets.ts';

export interface CanaryResults {
  /** With their numbers, and in the order of the user's manifest. */
  readonly rows: readonly CanaryRow[];
  readonly failed: number;
  readonly left: number;
  readonly unseen: readonly UnseenFields[];
  /** @returns whether the other rows may still be called */
  readonly saw: (unseen: UnseenFields, fate: string) => Promise<boolean>;
}

/** Decides whether a run continues. Undefined: the options of the run decide. */
export type ConfirmAfterCanary = (canary: CanaryResults, signal: AbortSignal) => Promise<boolean | undefined>;

export interface UnseenFields {
  readonly what: keyof typeof fieldFates;
  readonly row: CanaryRow;
  readonly fields: readonly string[];
}

export interface CanaryRow extends Pick<UnderstoodRow, 'operation' | 'subject' | 'values'> {
  readonly result: RowResult;
}

/**
 * The first rows that are called, or a fair sample of all. If none of them leaves fields out, or none clears any, the first row that does
 * is added for each operation, so that users see what the API does with such fields; not if rows of one subject are called in order: the
 * row could overtake another. A resumed run has the same canary, as it follows from the plan and the key of the run.
 */
export async function canaryRows(
  record: RunRecord,
  file: Pick<RowsFile, 'rows' | 'head'>,
): Promise<ReadonlySet<number>> {
  const {
    plan,
    options: { canary },
  } = record;
  if (canary === undefined) return new Set();
  const rows: { readonly place: number; readonly shows: readonly string[] }[] = [];
  const showable = plan.conflicts > 0 ? 0 : kindsIn(file.head);
  const firstOf = new Map<string, number>();
  const random = randomOf(runKey(record));
  let callable = 0;
  for await (const part of file.rows()) {
    for (const row of part) {
      if (row.kind !== 'callable') continue;
      const { place } = row;
      const shows = showable === 0 ? [] : shownBy(row).map(({ kind }) => kind);
      for (const kind of shows) if (!firstOf.has(kind)) firstOf.set(kind, place);
      callable += 1;
      if (rows.length < canary.rows) rows.push({ place, shows });
      else if (canary.random) {
        // Reservoir sampling: each row so far is in the sample with the same probability.
        const index = Math.floor(random() * callable);
        if (index < canary.rows) rows[index] = { place, shows };
      }
    }
    if (!canary.random && rows.length >= canary.rows && firstOf.size === showable) break;
  }
  const shown = new Set(rows.flatMap(({ shows }) => shows));
  const added = [...firstOf].filter(([kind]) => !shown.has(kind)).map(([, place]) => place);
  return new Set([...rows.map(({ place }) => place), ...added].toSorted((a, b) => a - b));
}

function kindsIn({ operations }: RowsFile['head']): number {
  return operations
    .flatMap(({ keepsOmitted, creates, counts, effects }) => [
      counts.partial > 0,
      !(keepsOmitted || creates) && Object.values(effects).some(({ cleared }) => cleared > 0),
    ])
    .filter(Boolean).length;
}

/** Optional fields that a row leaves out or clears, unless its API certainly keeps omitted fields, or the entry is new. */
function shownBy({ operation, values }: Pick<UnderstoodRow, 'operation' | 'values'>) {
  const fieldsWith = (text: string | undefined) =>
    operation.fields.filter(({ name, required }) => !required && values[name] === text);
  const all = [
    { what: 'leftOut', fields: fieldsWith(undefined) },
    { what: 'cleared', fields: fieldsWith('') },
  ] as const;
  return all.flatMap(({ what, fields }) =>
    operation.keepsOmitted || operation.creates || fields.length === 0
      ? []
      : [{ kind: `${what} ${operation.name}`, what, fields: fields.map(({ name }) => name) }],
  );
}

/** For each operation, the first succeeded rows with fields of unknown fate. */
export function unseenFields(
  rows: readonly CanaryRow[],
  fatesOf: (operation: string) => KnownFates,
): readonly UnseenFields[] {
  const unseen = new Map<string, UnseenFields>();
  for (const row of rows.filter(({ result }) => result.outcome === 'succeeded'))
    for (const { kind, what, fields } of shownBy(row))
      if (fatesOf(row.operation.name)[what] === undefined && !unseen.has(kind))
        unseen.set(kind, { what, row, fields });
  return [...unseen.values()].toSorted((a, b) => b.what.localeCompare(a.what));
}

/** @returns with `refusal`: why rows may not be called after what the user saw */
export async function askAfterCanary(
  { record, journal, store: { stateDir } }: OpenRun,
  file: Pick<RowsFile, 'rows' | 'head'>,
  canary: ReadonlySet<number>,
  confirm: ConfirmAfterCanary | undefined,
  signal: AbortSignal,
) {
  const { baseUrl } = record.options;
  const known = async () => ({ target: await lookUpTarget(stateDir, baseUrl), baseUrl });
  const rows = await canaryResults(canary, file, journal);
  const failed = rows.filter(({ result }) => result.outcome === 'failed').length;
  if (confirm === undefined) return { rows, failed };
  const before = await known();
  let refusal: { readonly reason: string; readonly next: string } | undefined;
  const results: CanaryResults = {
    rows,
    failed,
    left: unfinishedRows(record, journal),
    unseen: unseenFields(rows, (name) => fatesOf(before, name)),
    async saw({ what, row: { operation } }, fate) {
      await rememberFates(stateDir, baseUrl, [operation.name], { [what]: fate });
      const [refused] = fateRefusals({ scan: updatesIn(file.head), ...(await known()) });
      if (refused !== undefined)
        refusal = {
          reason: `${refused.text} The other rows are in not-attempted.csv.`,
          next: `cqbatch cancel ${record.id}`,
        };
      return refused === undefined;
    },
  };
  const answer = await confirm(results, signal);
  return { rows, failed, answer, refusal };
}

/** From 0 to 1; they depend only on the key. */
function randomOf(key: string): () => number {
  let count = 0;
  let block = Buffer.alloc(0);
  return () => {
    const at = (count * 4) % 32;
    if (at === 0) block = createHash('sha256').update(`${key} ${count}`).digest();
    count += 1;
    return block.readUInt32LE(at) / 2 ** 32;
  };
}

/** 0 if the canary is empty. */
export function lastOf(canary: ReadonlySet<number>): number {
  return [...canary].at(-1) ?? 0;
}

async function canaryResults(
  rows: ReadonlySet<number>,
  file: Pick<RowsFile, 'rows'>,
  journal: Pick<Journal, 'results'>,
): Promise<readonly CanaryRow[]> {
  const last = lastOf(rows);
  const results = new Map<number, RowResult>();
  for await (const part of journal.results(1, last))
    for (const result of part) if (rows.has(result.row)) results.set(result.row, result);
  const shown: CanaryRow[] = [];
  for await (const part of file.rows(1, last)) {
    for (const row of part) {
      const result = results.get(row.place);
      if (result === undefined || row.kind !== 'callable') continue;
      const { operation, subject, values } = row;
      shown.push({ result: { ...result, row: row.row }, operation, subject, values });
    }
  }
  return shown;
}

/** For a run whose user was not asked. */
export function canaryFailure(
  { rows, failed }: Pick<CanaryResults, 'rows' | 'failed'>,
  { maxFailures }: CanaryOptions,
  runId: string,
): ReturnType<typeof haltedBy> | undefined {
  if (failed <= maxFailures) return undefined;
  const tally = new FailureTally();
  for (const { result } of rows) tally.add(result);
  if (tally.inShort === undefined) return undefined;
  const what = `${failed} of the ${rows.length} rows of the canary failed`;
  const halt = { ...tally.inShort, ...tooMany(what, count(maxFailures), 'canary_max_failures') };
  return haltedBy(halt, runId, (row) => row);
}
