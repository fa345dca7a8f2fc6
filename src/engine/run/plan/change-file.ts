import { byteOrderMark, csvText } from '../../report/csv-text.ts';
import type { DecidedRow } from '../../rows/row.ts';
import { type NotedManifest, NoteFile } from './note-file.ts';

const header = ['_row', 'operation', 'id', 'field', 'old', 'new'];

/** What compared rows change, field by field, in a CSV file. */
export class ChangeFile {
  readonly #notes: NoteFile;
  #fields = 0;

  constructor(manifest: NotedManifest) {
    this.#notes = new NoteFile(manifest, 'changes', 'csv');
  }

  /** @returns a write to await */
  add(row: DecidedRow): Promise<void> | undefined {
    if (row.kind !== 'callable' || !row.compared || row.old === undefined) return undefined;
    const { operation, subject, values, old } = row;
    const records: string[][] = [];
    for (const field in old)
      records.push([String(row.row), operation.name, subject, field, old[field] ?? '', values[field] ?? '']);
    const head = this.#fields === 0 ? byteOrderMark + csvText([header]) : '';
    this.#fields += records.length;
    return this.#notes.add(head + csvText(records));
  }

  async end(): Promise<Changes> {
    const file = await this.#notes.end();
    return { fields: this.#fields, ...(file !== undefined && { file }) };
  }
}

export interface Changes {
  /** How many fields of all entries change. */
  readonly fields: number;
  /** Absent if nothing changes. */
  readonly file?: string;
}
