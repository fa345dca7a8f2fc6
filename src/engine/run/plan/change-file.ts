import { byteOrderMark, csvText } from '../../../base/text/delimiter.ts';
import type { DecidedRow } from '../../rows/row.ts';
import { type NotedManifest, NoteFile } from './note-file.ts';

/** A change of one field of one entry. */
export interface Change {
  readonly row: number;
  readonly operation: string;
  /** What the entry is, in one word: `soundboard`. */
  readonly thing: string;
  readonly subject: string;
  readonly field: string;
  readonly old: string;
  readonly new: string;
}

export interface Changes {
  /** The number of changed fields, over all entries. */
  readonly changedFields: number;
  /** The first changes, at most ten. */
  readonly firstChanges: readonly Change[];
  /** The path of the file with all changes. Absent if nothing changes. */
  readonly file?: string;
}

const header = ['_row', 'operation', 'id', 'field', 'old', 'new'];
const shownChanges = 10;

/** What compared rows change, field by field, in a CSV file. */
export class ChangeFile {
  readonly #notes: NoteFile;
  readonly #firstChanges: Change[] = [];
  #fields = 0;

  constructor(manifest: NotedManifest) {
    this.#notes = new NoteFile(manifest, 'changes', 'csv');
  }

  /** @returns a write to await */
  add(row: DecidedRow): Promise<void> | undefined {
    if (row.kind !== 'callable' || !row.compared) return undefined;
    const { subject, operation, values, old = {} } = row;
    const { name, thing } = operation;
    let text = '';
    for (const field in old) {
      if (this.#fields === 0) text = byteOrderMark + csvText([header]);
      const [was, is] = [old[field] ?? '', values[field] ?? ''];
      if (this.#firstChanges.length < shownChanges)
        this.#firstChanges.push({ row: row.row, operation: name, thing, subject, field, old: was, new: is });
      text += csvText([[String(row.row), name, subject, field, was, is]]);
      this.#fields++;
    }
    return text === '' ? undefined : this.#notes.add(text);
  }

  async end(): Promise<Changes> {
    const file = await this.#notes.end();
    return {
      changedFields: this.#fields,
      firstChanges: this.#firstChanges,
      ...(file !== undefined && { file }),
    };
  }
}
