import { createWriteStream, type WriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
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

/** Collects problems while a manifest is scanned. */
export class ProblemCollector {
  readonly #manifestName: string;
  readonly #path: string;
  readonly #groups = new ProblemGroups();
  readonly #first: string[] = [];
  readonly #firstConflicts: string[] = [];
  #count = 0;
  #stream: WriteStream | undefined;
  #failure: Error | undefined;

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
      await this.#write(row, problem, this.#first);
    }
  }

  /** The same of a row that is refused because of an earlier one. */
  addConflict(conflict: Conflict): Promise<void> {
    return this.#write(conflict, conflictProblem(conflict), this.#firstConflicts);
  }

  async #write(row: { readonly line: number }, problem: RowProblem, first: string[]): Promise<void> {
    const line = formatProblem(this.#manifestName, row, problem);
    if (first.length < firstCount) first.push(line);
    this.#stream ??= await this.#open();
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#stream.write(`${line}\n`)) await this.#drained(this.#stream);
  }

  async end(): Promise<ProblemList> {
    const { groups, ungrouped } = this.#groups;
    const firstConflicts = this.#firstConflicts;
    const problems = { groups, ungrouped, first: this.#first, count: this.#count, firstConflicts };
    if (this.#stream === undefined) return problems;
    this.#stream.end();
    await finished(this.#stream).catch(() => {});
    if (this.#failure !== undefined) throw this.#failure;
    return { ...problems, file: this.#path };
  }

  async #open(): Promise<WriteStream> {
    await makeFolder(dirname(this.#path));
    const stream = createWriteStream(this.#path, { mode: 0o600 });
    stream.on('error', (error) => {
      this.#failure =
        circumstance(error, this.#path) ??
        fatalError('PROBLEMS_UNWRITABLE', `Can't write ${this.#path}: ${error.message}`, error);
      // Half a list would be taken for all of it.
      rm(this.#path, { force: true }).catch(() => {});
    });
    return stream;
  }

  #drained(stream: WriteStream): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        stream.off('drain', done).off('close', done);
        resolve();
      };
      stream.on('drain', done).on('close', done);
    });
  }
}
