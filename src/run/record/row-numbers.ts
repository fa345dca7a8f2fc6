import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere, writeFileAtomically } from '../../disk/files.ts';
import { fatalError } from '../../errors.ts';
import { onDisk } from '../../system-error.ts';
import type { RunRecord } from './record.ts';

/** File of a retry with the number of each row in the user's manifest, one per line. */
export const rowNumbersFile = 'row-numbers.txt';

export async function writeRowNumbers(runFolder: string, numbers: readonly number[]): Promise<void> {
  await writeFileAtomically(join(runFolder, rowNumbersFile), `${numbers.join('\n')}\n`);
}

/**
 * Reads how to map rows of a run to the user's manifest: a retry numbers its rows separately.
 *
 * @throws a fatal error `ROW_NUMBERS_MISSING` when the numbers are lost
 */
export async function readRowNumbers(
  runFolder: string,
  { rowNumbers, plan }: RunRecord,
): Promise<(row: number) => number> {
  if (rowNumbers === undefined) return (row) => row;
  const path = join(runFolder, rowNumbers);
  const text = await onDisk(path, () => ifThere(readFile(path, 'utf8')));
  const numbers = text?.trimEnd().split('\n').map(Number);
  if (numbers?.length === plan.rows && numbers.every(Number.isSafeInteger))
    return (row) => numbers[row - 1] ?? row;
  throw fatalError(
    'ROW_NUMBERS_MISSING',
    `${path} is missing or damaged, and no other file says which rows were retried: restore it from a backup.`,
  );
}
