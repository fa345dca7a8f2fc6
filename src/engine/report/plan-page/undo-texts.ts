import { counted } from '../../../base/text/format.ts';
import { verbOf } from '../../rows/row-kind.ts';
import type { PlanPageData } from './plan-page-data.ts';

/** What `cqbatch undo` could put back after the run: `15 edits, 3 edits in part`. */
export function undoableText({ counts }: PlanPageData): string {
  const { undoable, partlyUndoable } = counts;
  return [
    undoable > 0 && counted(undoable, 'edit'),
    partlyUndoable > 0 && `${counted(partlyUndoable, 'edit')} in part`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** What `cqbatch undo` could not put back: `20 restores, 2 edits (old values are unknown; --compare reads them)`. */
export function lastingText({ counts, operations, compared }: PlanPageData): string {
  const { kinds, undoable, partlyUndoable } = counts;
  const unknown = kinds.edit - undoable - partlyUndoable;
  const cure = compared === undefined ? '; --compare reads them' : '';
  const acts = operations.filter((operation) => operation.acts > 0);
  return [
    ...acts.map((operation) => counted(operation.acts, verbOf(operation))),
    unknown > 0 && `${counted(unknown, 'edit')} (old values are unknown${cure})`,
  ]
    .filter(Boolean)
    .join(', ');
}
