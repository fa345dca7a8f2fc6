import { open } from 'node:fs/promises';
import type { RowHistory } from '../domain.ts';
import type { JournalView } from '../journal/journal.ts';
import { stringifyJson } from '../json.ts';
import type { FieldNamer } from '../manifest/column-map.ts';
import { onDisk } from '../system-error.ts';
import type { RunRecord } from './record.ts';
import { openManifestCopy } from './run-manifest.ts';
import type { RunStore } from './store.ts';

/** The failed rows of a run as a manifest of their own. */
export interface RetryManifest {
  readonly rows: number;
  /** What is known of their attempts, by row of the new manifest: an unclear one matters for the next attempt. */
  readonly histories: ReadonlyMap<number, RowHistory>;
}

const unclearBefore: RowHistory = { attempts: 0, unprocessed: 0, unclear: true };

/**
 * Writes the rows of a run that failed as a JSON Lines manifest: unlike CSV it holds any text exactly, and every row
 * says its operation and the defaults that it had.
 */
export async function writeRetryManifest(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
  path: string,
): Promise<RetryManifest> {
  const { manifest, prepare } = await openManifestCopy(store, record);
  const histories = new Map<number, RowHistory>();
  const file = await open(path, 'wx', 0o600);
  let rows = 0;
  try {
    for await (const chunk of manifest.rows()) {
      const last = chunk.at(-1)?.row ?? 0;
      const failed = await failedRows(journal, chunk[0]?.row ?? 0, last);
      const lines: string[] = [];
      for (const row of chunk) {
        const unclear = failed.get(row.row);
        const prepared = unclear === undefined ? undefined : prepare(row);
        if (prepared?.kind !== 'callable') continue;
        rows += 1;
        if (unclear) histories.set(rows, unclearBefore);
        lines.push(
          `${stringifyJson(completeRow(row.cells, new Map([...prepare.defaults, ['operation', prepared.operation.name]]), prepare.fieldOf))}\n`,
        );
      }
      await onDisk(path, () => file.writeFile(lines.join('')));
    }
    await onDisk(path, () => file.sync());
  } finally {
    await file.close();
  }
  return { rows, histories };
}

/** The row's own cells, and the defaults for fields that none of them gives, however its column is written. */
function completeRow(
  cells: Readonly<Record<string, unknown>>,
  defaults: ReadonlyMap<string, unknown>,
  fieldOf: FieldNamer,
): Readonly<Record<string, unknown>> {
  const given = new Set(Object.keys(cells).map(fieldOf));
  const missing = [...defaults].filter(([field]) => !given.has(field));
  return { ...cells, ...Object.fromEntries(missing) };
}

/** The failed rows of a range, and whether an attempt of theirs was unclear. */
async function failedRows(
  journal: JournalView,
  first: number,
  last: number,
): Promise<ReadonlyMap<number, boolean>> {
  const failed = new Map<number, boolean>();
  for await (const results of journal.results(first, last)) {
    for (const { row, outcome, unclear } of results) if (outcome === 'failed') failed.set(row, unclear);
  }
  return failed;
}
