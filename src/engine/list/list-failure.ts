import { type CqbatchError, fatalError } from '../../base/errors/errors.ts';
import { count } from '../../base/text/format.ts';
import type { ApiFailure } from '../api/failure.ts';
import { listedWords, type OperationList } from '../operation/list-definition.ts';
import { refusalText } from '../operation/operation.ts';

interface ListPlace {
  readonly path: string;
  /** The number of entries that were listed before the failure. */
  readonly listed: number;
  /** The number of the page, from 1. */
  readonly page: number;
  /** What the user does without the list, as a sentence. */
  readonly ifMissing: string;
}

/**
 * The warning that an entry was listed more than once.
 *
 * @param repeats how many entries were listed again
 */
export function changedListText(list: OperationList, repeats: number): string {
  const times = repeats === 1 ? 'once' : `${count(repeats)} times`;
  return `the list of ${listedWords(list)} has changed while it was read (an entry was listed again ${times}), so entries may be missing`;
}

/** Statuses of a service, or of a router in front of it, that has no such list. */
const statusesWithoutList: ReadonlySet<number | undefined> = new Set([404, 405, 501]);

/** The error when a list can't be read. */
export function listFailure(
  list: OperationList,
  failure: ApiFailure,
  { path, listed, page, ifMissing }: ListPlace,
): CqbatchError {
  const what = listedWords(list);
  const message = refusalText(list, failure);
  const { code, status } = failure;
  if (page === 1 && (statusesWithoutList.has(status) || code === 'UNIMPLEMENTED'))
    return fatalError(
      'LIST_MISSING',
      `This service does not list ${what}: ${message} (asked: ${path}). ${ifMissing}`,
    );
  if (status === 403)
    return fatalError(
      'LIST_FORBIDDEN',
      `The API does not let you list ${what}: ${message}. Ask for the permission, or use the token of another user.`,
    );
  if (page > 1 && failure.class === 'permanent')
    return fatalError(
      'LIST_CHANGED',
      `The API refuses page ${count(page)} of the ${what}, after ${count(listed)} of them: ${message} (${code}). Most likely the list has ` +
        'changed, or the token of the page has expired: type the same command again.',
    );
  return fatalError('LIST_UNREADABLE', `Can't list the ${what}: ${message} (${code}; asked: ${path}).`);
}
