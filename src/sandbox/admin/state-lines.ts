import type { Evaluation, Soundboard } from '../model/entities.ts';
import type { Evaluations, Soundboards, State } from '../state/store.ts';

/** Which part of the state to list; everything by default. */
export interface StateFilter {
  readonly kind?: StateKind;
  /** Only what was changed since the start or the last reset. */
  readonly changed?: boolean;
  /** Only these decimal identifiers, in this order. */
  readonly ids?: readonly string[];
}

export const stateKinds = ['evaluation', 'soundboard'] as const;
type StateKind = (typeof stateKinds)[number];

/** A thing of the state as it is now. */
export type StateLine = EvaluationLine | SoundboardLine;

interface Line {
  /** Decimal identifier. */
  readonly id: string;
  readonly changed: boolean;
}

interface EvaluationLine extends Line {
  readonly kind: 'evaluation';
  readonly deleted: boolean;
  /** The `user_id` of the request that restored it, when it was restored and the request had one. */
  readonly restored_by?: string;
  /** ISO 8601 UTC, when it was restored. */
  readonly restored_at?: string;
  readonly evaluation: Evaluation;
}

interface SoundboardLine extends Line {
  readonly kind: 'soundboard';
  readonly soundboard: Soundboard;
}

/** Lists the state, evaluations before soundboards. */
export function* stateLines(
  { evaluations, soundboards }: State,
  { kind, ...filter }: StateFilter = {},
): Generator<StateLine> {
  if (kind !== 'soundboard') {
    for (const id of idsOf(evaluations, filter)) {
      const evaluation = evaluations.find(id);
      if (evaluation !== undefined) yield evaluationLine(evaluations, id, evaluation);
    }
  }
  if (kind !== 'evaluation') {
    for (const id of idsOf(soundboards, filter)) {
      const soundboard = soundboards.find(id);
      if (soundboard === undefined) continue;
      yield { kind: 'soundboard', id, changed: soundboards.changes.has(id), soundboard };
    }
  }
}

function idsOf(things: Evaluations | Soundboards, { changed = false, ids }: StateFilter): Iterable<string> {
  if (ids === undefined) return changed ? things.changes.keys() : things.ids();
  return changed ? ids.filter((id) => things.changes.has(id)) : ids;
}

function evaluationLine(evaluations: Evaluations, id: string, evaluation: Evaluation): EvaluationLine {
  const restoration = evaluations.changes.get(id);
  return {
    kind: 'evaluation',
    id,
    changed: restoration !== undefined,
    deleted: evaluation.deleted_at !== undefined,
    ...(restoration?.userId !== undefined && { restored_by: restoration.userId }),
    ...(restoration && { restored_at: new Date(restoration.at).toISOString() }),
    evaluation,
  };
}
