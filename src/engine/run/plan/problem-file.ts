import { type Conflict, conflictProblem } from '../../manifest/check/call-index.ts';
import {
  formatProblem,
  type ProblemGroup,
  ProblemGroups,
  type RowPosition,
  type RowProblem,
} from '../../rows/problem.ts';
import type { InvalidRow } from '../../rows/row.ts';
import { type NotedManifest, NoteFile } from './note-file.ts';

export interface ProblemList {
  readonly groups: readonly ProblemGroup[];
  readonly firstProblems: readonly string[];
  readonly count: number;
  /** The first conflicts between rows, which `groups` and `count` leave out. */
  readonly firstConflicts: readonly string[];
  readonly file?: string;
}

const mostFirstProblems = 20;

export function problemCollector(manifest: NotedManifest) {
  const notes = new NoteFile(manifest, 'problems', 'txt');
  const groups = new ProblemGroups();
  const firstProblems: string[] = [];
  const firstConflicts: string[] = [];
  let count = 0;

  async function note(row: RowPosition, problem: RowProblem, shown: string[]): Promise<void> {
    const line = formatProblem(manifest.name, row, problem);
    if (shown.length < mostFirstProblems) shown.push(line);
    await notes.add(`${line}\n`);
  }

  return {
    async add(row: InvalidRow): Promise<void> {
      for (const problem of row.problems) {
        count += 1;
        groups.add(row, problem);
        await note(row, problem, firstProblems);
      }
    },
    addConflict: (conflict: Conflict) => note(conflict, conflictProblem(conflict), firstConflicts),
    async end(): Promise<ProblemList> {
      const file = await notes.end();
      const found = { groups: groups.groups, firstProblems, count, firstConflicts };
      return file === undefined ? found : { ...found, file };
    },
  };
}
