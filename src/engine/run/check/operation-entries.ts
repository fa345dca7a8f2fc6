import type { Defer } from '../../../base/async/scope.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { DoneEntries, type DoneEntriesOptions } from '../../list/done-entries.ts';
import type { EntryLists } from '../../list/entry-lists.ts';
import type { ListedEntries } from '../../list/listed-entries.ts';
import { whyUncheckable } from '../../operation/list-definition.ts';
import type { Operation } from '../../operation/operation.ts';
import type { UnderstoodRow } from '../../rows/row.ts';
import { type EntryVerdict, verdictByFields, verdictOfListed, verdictOfSeen } from './entry-verdict.ts';

export interface OperationEntriesOptions {
  readonly lists: EntryLists;
  readonly reading: DoneEntriesOptions;
}

type JudgedValues = Pick<UnderstoodRow, 'subject' | 'values' | 'old' | 'compared'>;

/** What the service has of the entries of an operation: `seek` all rows, then `readDone`, then `judge` each. */
export class OperationEntries {
  readonly #operation: Operation;
  readonly #listed: ListedEntries;
  /** Entries that have left the list. Absent if entries stay in the list when the operation acts on them. */
  readonly #done: DoneEntries | undefined;

  /**
   * Reads the list of the operation.
   *
   * @throws a usage error `CHECK_IMPOSSIBLE`, and the errors of `ListReader.entries`
   */
  static async read(
    operation: Operation,
    { lists, reading }: OperationEntriesOptions,
    defer: Defer,
  ): Promise<OperationEntries> {
    const { name, list } = operation;
    const why = whyUncheckable(list);
    if (why !== undefined) throw impossible(name, why);
    const listed = await lists.of(operation);
    const done = list?.done && new DoneEntries(list.done, reading);
    if (done !== undefined) defer(() => done.close());
    return new OperationEntries(operation, listed, done);
  }

  private constructor(operation: Operation, listed: ListedEntries, done: DoneEntries | undefined) {
    this.#operation = operation;
    this.#listed = listed;
    this.#done = done;
  }

  seek({ subject }: JudgedValues): void {
    if (this.#done !== undefined && this.#listed.find(subject) === undefined) this.#done.seek(subject);
  }

  /** @throws the errors of `ListReader.entries` */
  async readDone(): Promise<void> {
    await this.#done?.readList();
  }

  /** @throws the errors of `EntryReader.look` */
  async judge(row: JudgedValues): Promise<EntryVerdict> {
    const entry = this.#listed.find(row.subject);
    const { fields } = this.#operation;
    const { list } = this.#listed;
    if (this.#done === undefined) return verdictByFields(row, { fields, list }, entry);
    return entry === undefined
      ? verdictOfSeen(await this.#done.readEntry(row.subject))
      : verdictOfListed(list, entry);
  }
}

function impossible(operation: string, why: string): Error {
  return usageError(
    'CHECK_IMPOSSIBLE',
    `The rows of ${operation} can't be checked, because ${why}. docs/operations.md says what a list needs.`,
  );
}
