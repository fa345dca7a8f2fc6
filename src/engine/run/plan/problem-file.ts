import { randomUUID } from 'node:crypto';
import { appendFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder, removeIfPossible } from '../../../base/disk/files.ts';
import { removeHalfDone } from '../../../base/disk/owned-folder.ts';
import { fatalError } from '../../../base/errors/errors.ts';
import { circumstance } from '../../../base/errors/system-error.ts';
import { uniqueName } from '../../../base/text/unique-name.ts';
import { type Conflict, conflictProblem } from '../../manifest/check/call-index.ts';
import { formatProblem, type ProblemGroup, ProblemGroups, type RowProblem } from '../../rows/problem.ts';
import type { InvalidRow } from '../../rows/row.ts';

export interface ProblemList {
  readonly groups: readonly ProblemGroup[];
  readonly first: readonly string[];
  readonly count: number;
  /** Not in `groups` or `count`. */
  readonly firstConflicts: readonly string[];
  readonly file?: string;
}

const firstCount = 20;
const partLines = 1_000;

/**
 * Uses constant memory. The file appears whole, in the state folder, under a name with the digest of the manifest: manifests of the same
 * name don't share a file.
 */
export function problemCollector(stateDir: string, manifestName: string, sha256Of: () => Promise<string>) {
  const folder = join(stateDir, 'problems');
  const temporary = join(folder, `${randomUUID()}.tmp`);
  const groups = new ProblemGroups();
  const first: string[] = [];
  const firstConflicts: string[] = [];
  let count = 0;
  const lines: string[] = [];
  let hasFile = false;

  async function write(): Promise<void> {
    if (lines.length === 0) return;
    await inFolder(async () => {
      if (!hasFile) {
        await makeFolder(folder);
        await removeHalfDone(folder);
      }
      const flag = hasFile ? 'a' : 'ax';
      await appendFile(temporary, lines.splice(0).join(''), { mode: 0o600, flag });
      hasFile = true;
    });
  }

  async function publish(): Promise<string> {
    const name = basename(manifestName).replaceAll(/[<>]/g, '');
    const file = join(folder, `${uniqueName(name, await sha256Of())}.txt`);
    await inFolder(() => rename(temporary, file));
    return file;
  }

  async function inFolder(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await removeIfPossible(temporary);
      throw (
        circumstance(error, folder) ??
        fatalError('PROBLEMS_UNWRITABLE', `Can't write into ${folder}: ${(error as Error).message}`, error)
      );
    }
  }

  async function note(row: { readonly line: number }, problem: RowProblem, shown: string[]): Promise<void> {
    const line = formatProblem(manifestName, row, problem);
    if (shown.length < firstCount) shown.push(line);
    lines.push(`${line}\n`);
    if (lines.length >= partLines) await write();
  }

  return {
    async add(row: InvalidRow): Promise<void> {
      for (const problem of row.problems) {
        count += 1;
        groups.add(row, problem);
        await note(row, problem, first);
      }
    },
    addConflict: (conflict: Conflict) => note(conflict, conflictProblem(conflict), firstConflicts),
    async end(): Promise<ProblemList> {
      await write();
      const found = { groups: groups.groups, first, count, firstConflicts };
      return hasFile ? { ...found, file: await publish() } : found;
    },
  };
}
