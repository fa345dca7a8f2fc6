import { appendFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../disk/files.ts';
import { fatalError } from '../../errors.ts';
import { type Conflict, conflictProblem } from '../../manifest/check/call-index.ts';
import type { InvalidRow } from '../../manifest/columns/row-preparer.ts';
import { formatProblem, type ProblemGroup, ProblemGroups, type RowProblem } from '../../manifest/problem.ts';
import { circumstance } from '../../system-error.ts';

/** The problems of a manifest: grouped, with the first ones for the screen, and all of them in a file. */
export interface ProblemList {
  readonly groups: readonly ProblemGroup[];
  readonly first: readonly string[];
  readonly count: number;
  /** The first rows that conflict, one per line; not in `groups` or `count`. */
  readonly firstConflicts: readonly string[];
  /** Absent without problems. */
  readonly file?: string;
}

const firstCount = 20;
/** Lines per write. */
const partLines = 1_000;

/**
 * Collects problems while a manifest is scanned, in constant memory. The file is in the state folder, never among the user's
 * files.
 */
export function problemCollector(stateDir: string, manifestName: string) {
  const path = join(stateDir, 'problems', `${basename(manifestName).replaceAll(/[<>]/g, '')}.txt`);
  const groups = new ProblemGroups();
  const first: string[] = [];
  const firstConflicts: string[] = [];
  let count = 0;
  /** Not written yet. */
  const lines: string[] = [];
  let hasFile = false;

  async function write(): Promise<void> {
    if (lines.length === 0) return;
    try {
      if (!hasFile) await makeFolder(dirname(path));
      const flag = hasFile ? 'a' : 'w';
      await appendFile(path, lines.splice(0).join(''), { mode: 0o600, flag });
      hasFile = true;
    } catch (error) {
      // Half a list would look complete.
      await rm(path, { force: true }).catch(() => {});
      throw (
        circumstance(error, path) ??
        fatalError('PROBLEMS_UNWRITABLE', `Can't write ${path}: ${(error as Error).message}`, error)
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
    /** Adds a row that is refused because of an earlier row. */
    addConflict: (conflict: Conflict) => note(conflict, conflictProblem(conflict), firstConflicts),
    async end(): Promise<ProblemList> {
      await write();
      return { groups: groups.groups, first, count, firstConflicts, ...(hasFile && { file: path }) };
    },
  };
}
