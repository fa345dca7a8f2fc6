import { count, counted } from '../../base/text/format.ts';
import { hasUnsafeInteger } from '../../base/text/json.ts';
import { type NotedRows, noteRow } from '../manifest/check/cell-notices.ts';
import type { ComparedRow, RowComparer } from '../manifest/check/compared-row.ts';
import { listedWords } from '../operation/list-definition.ts';
import type { Operation } from '../operation/operation.ts';
import { operationNamed, requestDigest } from '../operation/shown-request.ts';
import type { RowsHead } from '../rows/head.ts';
import { positionText } from '../rows/problem.ts';
import type { CallableRow } from '../rows/row.ts';
import { compareEntry } from './compare-entry.ts';
import type { EntryLists } from './entry-lists.ts';
import { changedListText } from './list-failure.ts';
import type { ListedEntries } from './listed-entries.ts';

interface ComparedOperation {
  readonly operation: Operation;
  readonly entries: ListedEntries;
}

/** Compares rows with the entries that the service lists, and completes them to whole entries. */
export class ListComparer implements RowComparer {
  readonly #lists: EntryLists;
  readonly #operations: readonly Operation[];
  readonly #conflictRemedy: string;
  readonly #begun = new Map<string, ComparedOperation>();
  /** Rows with another value than the listed one, by field that the service computes. */
  readonly #computed = new Map<string, NotedRows>();

  /** @param conflictRemedy what to do about an old value that is not what is there */
  constructor(lists: EntryLists, operations: readonly Operation[], conflictRemedy: string) {
    this.#lists = lists;
    this.#operations = operations;
    this.#conflictRemedy = conflictRemedy;
  }

  /** Reads the list of an operation, once. @throws a usage error `COMPARE_IMPOSSIBLE` without a list, the errors of `ListReader.entries` */
  begin(name: string): Promise<void> | undefined {
    return this.#begun.has(name) ? undefined : this.#begin(operationNamed(this.#operations, name));
  }

  compare<Row extends CallableRow>(row: Row): ComparedRow<Row> {
    const { operation, entries } = this.#begunOperation(row.operation.name);
    const { list } = entries;
    const entry = entries.find(row.subject);
    const comparison = compareEntry(operation, list, row, entry);
    if (comparison.kind === 'misfit') {
      const { problem } = comparison;
      if (problem.column === operation.subject) return comparison;
      return {
        kind: 'misfit',
        problem: { ...problem, problem: `${problem.problem}; ${this.#conflictRemedy}` },
      };
    }
    for (const field of list.computed) {
      const value = row.values[field];
      if (value !== undefined && value !== entry?.fields[field]) noteRow(this.#computed, field, row);
    }
    if (comparison.kind === 'as wanted') return { kind: 'fits', row, isAsWanted: true };
    const { values, old } = comparison;
    const request = operation.request(values);
    const compared = { values, old, compared: true, requestDigest: requestDigest(request) } as const;
    const rounded = hasUnsafeInteger(request.body) ? { mayBeRounded: true as const } : {};
    return { kind: 'fits', row: { ...row, ...compared, ...rounded }, isAsWanted: false };
  }

  warnings(): ReturnType<RowComparer['warnings']> {
    return [
      ...this.#lists.all.flatMap(unsureText).map((message) => ({ code: 'LIST_UNSURE', message }) as const),
      ...[...this.#computed].map(([field, { rows, first }]) => ({
        code: 'FIELD_COMPUTED' as const,
        message:
          `${field} of ${counted(rows, 'row')} (first: ${positionText(first)}) is not what is there, and is not sent: the service ` +
          'sets it itself',
      })),
    ];
  }

  async #begin(operation: Operation): Promise<void> {
    this.#begun.set(operation.name, { operation, entries: await this.#lists.of(operation) });
  }

  #begunOperation(name: string): ComparedOperation {
    const begun = this.#begun.get(name);
    if (begun === undefined) throw new TypeError(`The list of ${name} was not read.`);
    return begun;
  }
}

function unsureText({ list, counts: { repeats, unreadable } }: ListedEntries): readonly string[] {
  const words = listedWords(list);
  return [
    ...(repeats === 0 ? [] : [`${changedListText(list, repeats)}, and their rows be invalid`]),
    ...(unreadable === 0
      ? []
      : [
          `${count(unreadable)} of the ${words} ${unreadable === 1 ? 'has' : 'have'} no readable identifier: rows for them are invalid`,
        ]),
  ];
}

/** The lists with which rows were compared, for the head of a file of rows. */
export function comparedLists({ all }: Pick<EntryLists, 'all'>): NonNullable<RowsHead['compared']> {
  return all.map(({ list, counts, readAt }) => ({
    list: list.name,
    listed: counts.listed,
    read_at: readAt,
  }));
}
