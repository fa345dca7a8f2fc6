import { appendFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../disk/files.ts';
import { fatalError } from '../../errors.ts';
import { type Conflict, conflictProblem } from '../../manifest/check/conflicts.ts';
import { type ProblemGroup, ProblemGroups } from '../../manifest/check/problem-groups.ts';
import type { InvalidRow } from '../../manifest/columns/row-preparer.ts';
import { formatProblem, type RowProblem } from '../../manifest/problem.ts';
import { circumstance } from '../../system-error.ts';

/** The problems of a manifest: equal ones together and the first ones for the screen, all of them in a file. */
export interface ProblemList {
  readonly groups: readonly ProblemGroup[];
  /** Problems that are in no group, because there are too many different ones. */
  readonly ungrouped: number;
  readonly first: readonly string[];
  readonly count: number;
  /** Rows that conflict, the first ones, each on a line; they are neither in a group nor in `count`. */
  readonly firstConflicts: readonly string[];
  /** Absent when there were none: then no file was made. */
  readonly file?: string;
}

const firstCount = 20;
/** Lines that are written to the file at once. */
const partLines = 1_000;

/** Collects problems while a manifest is scanned. */
export class ProblemCollector {
  readonly #manifestName: string;
  readonly #path: string;
  readonly #groups = new ProblemGroups();
  readonly #first: string[] = [];
  readonly #firstConflicts: string[] = [];
  #count = 0;
  /** Not in the file yet. */
  #lines: string[] = [];
  #hasFile = false;

  /** The file is beside the runs, never beside the user's own files. */
  constructor(stateDir: string, manifestName: string) {
    this.#manifestName = manifestName;
    this.#path = join(stateDir, 'problems', `${basename(manifestName).replaceAll(/[<>]/g, '')}.txt`);
  }

  /** Resolves when more may be added: memory does not grow with the number of problems. */
  async add(row: InvalidRow): Promise<void> {
    for (const problem of row.problems) {
      this.#count += 1;
      this.#groups.add(row, problem);
      await this.#note(row, problem, this.#first);
    }
  }

  /** A row that is refused because of an earlier one. */
  addConflict(conflict: Conflict): Promise<void> {
    return this.#note(conflict, conflictProblem(conflict), this.#firstConflicts);
  }

  async end(): Promise<ProblemList> {
    await this.#write();
    const { groups, ungrouped } = this.#groups;
    return {
      ...{ groups, ungrouped, first: this.#first, count: this.#count, firstConflicts: this.#firstConflicts },
      ...(this.#hasFile && { file: this.#path }),
    };
  }

  async #note(row: { readonly line: number }, problem: RowProblem, first: string[]): Promise<void> {
    const line = formatProblem(this.#manifestName, row, problem);
    if (first.length < firstCount) first.push(line);
    this.#lines.push(`${line}\n`);
    if (this.#lines.length >= partLines) await this.#write();
  }

  async #write(): Promise<void> {
    const lines = this.#lines.splice(0);
    if (lines.length === 0) return;
    try {
      if (!this.#hasFile) await makeFolder(dirname(this.#path));
      await appendFile(this.#path, lines.join(''), { mode: 0o600, flag: this.#hasFile ? 'a' : 'w' });
      this.#hasFile = true;
    } catch (error) {
      // Half a list would be taken for all of it.
      await rm(this.#path, { force: true }).catch(() => {});
      throw (
        circumstance(error, this.#path) ??
        fatalError('PROBLEMS_UNWRITABLE', `Can't write ${this.#path}: ${(error as Error).message}`, error)
      );
    }
  }
}
