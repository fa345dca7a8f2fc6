import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createFile, ifThere } from '../../../base/disk/files.ts';
import { readSmallFile } from '../../../base/disk/open-file.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';

/** `week-47.cqplan.ana.approval`, one for each approver */
export const approvalSuffix = '.approval';

/** @throws a usage error `PLAN_UNREADABLE` */
export async function approvalsOf(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  const names = ((await ifThere(readdir(folder))) ?? []).filter(
    (name) => name.startsWith(`${basename(file)}.`) && name.endsWith(approvalSuffix),
  );
  const read = async (name: string): Promise<string> => {
    const path = join(folder, name);
    return readSmallFile(path).catch((error: Error) => {
      throw usageError(
        'PLAN_UNREADABLE',
        `Can't read the approval ${escapeInvisible(path)}: ${error.message}.`,
        error,
      );
    });
  };
  return Promise.all(names.sort().map(read));
}

/**
 * Takes the first free name.
 *
 * @param user the account of the approver
 * @returns the new file, and all approvals of the plan
 */
export async function writeApproval(
  { file }: { readonly file: string },
  user: string,
  content: string,
): Promise<{ readonly approvalFile: string; readonly approvals: readonly string[] }> {
  const name = user.replace(/[^\w.-]/g, '_');
  for (let number = 1; ; number += 1) {
    const approvalFile = `${file}.${name}${number === 1 ? '' : `-${number}`}${approvalSuffix}`;
    if (await onDisk(approvalFile, () => createFile(approvalFile, content)))
      return { approvalFile, approvals: await approvalsOf(file) };
  }
}
