import { join } from 'node:path';
import type { Defer } from '../../base/async/scope.ts';
import { usageError } from '../../base/errors/errors.ts';
import type { OperationList } from '../operation/list-definition.ts';
import type { Operation } from '../operation/operation.ts';
import { ListReader, type ListReaderOptions } from './list-reader.ts';
import { ListedEntries } from './listed-entries.ts';

type Limits = Pick<ListReaderOptions, 'attempts' | 'backoffMs' | 'maxOutageMs' | 'spacingMs'>;

/** The least attempts for a call of a list. Such a call only reads, so it may be repeated even in a run whose rows have one attempt. */
const leastAttempts = 5;

/** The limits within which lists are read: those of the run's calls. */
export function listLimits({
  attempts,
  backoffMs,
  maxOutageMs = null,
  rate,
}: Pick<Limits, 'attempts' | 'backoffMs'> & {
  readonly maxOutageMs?: number | null;
  readonly rate?: { readonly perSecond?: number } | undefined;
}): Limits {
  const spacingMs = rate?.perSecond === undefined ? 0 : 1_000 / rate.perSecond;
  return { attempts: Math.max(leastAttempts, attempts), backoffMs, maxOutageMs, spacingMs };
}

export interface EntryListsOptions extends ListReaderOptions {
  /** The folder that gets a file for each list, for a moment. */
  readonly folder: string;
  /** Called before a list is read. The returned function is called after the list is read, even after a failure. */
  readonly onReading?: ((list: OperationList, reader: ListReader) => () => unknown) | undefined;
}

/** The lists of some operations, each read once, when it is first needed. */
export interface EntryLists {
  /**
   * The entries of an operation's list. @throws `COMPARE_IMPOSSIBLE` for an operation without a list; the errors of `ListReader.entries`
   */
  readonly of: (operation: Pick<Operation, 'name' | 'list'>) => Promise<ListedEntries>;
  /** The lists that were read, in the order of reading. */
  readonly all: readonly ListedEntries[];
}

/** Opens lists that are read again, with the token and the limits of the calls. */
export type OpenEntryLists = (signal: AbortSignal, defer: Defer) => Promise<EntryLists>;

/** Opens the lists of operations. @param defer closes the lists */
export function openEntryLists(
  { folder, onReading, ...options }: EntryListsOptions,
  defer: Defer,
): EntryLists {
  const reading = new Map<string, Promise<ListedEntries>>();
  const all: ListedEntries[] = [];
  const read = async (list: OperationList): Promise<ListedEntries> => {
    const reader = new ListReader(list, options);
    const onRead = onReading?.(list, reader);
    try {
      const entries = await ListedEntries.read(list, reader, join(folder, `${list.name}.entries`));
      defer(() => entries.close());
      all.push(entries);
      return entries;
    } finally {
      await onRead?.();
    }
  };
  return {
    all,
    async of({ name, list }) {
      if (list === undefined) throw comparisonImpossible(name);
      const known = reading.get(list.name) ?? read(list);
      reading.set(list.name, known);
      return known;
    },
  };
}

function comparisonImpossible(operation: string): Error {
  return usageError(
    'COMPARE_IMPOSSIBLE',
    `The rows of ${operation} can't be compared with what is there, because the operation has no list: leave out --compare.`,
  );
}
