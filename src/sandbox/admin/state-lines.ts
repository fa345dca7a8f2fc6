import { type Evaluation, isDeleted } from '../model/evaluation.ts';
import type { Soundboard } from '../model/soundboard.ts';
import type { Evaluations } from '../state/evaluations.ts';
import type { Soundboards } from '../state/soundboards.ts';

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

interface EvaluationLine {
  readonly kind: 'evaluation';
  /** Decimal identifier. */
  readonly id: string;
  readonly changed: boolean;
  readonly deleted: boolean;
  /** The `user_id` of the request that restored it, when it was restored and the request had one. */
  readonly restored_by?: string;
  /** ISO 8601 UTC, when it was restored. */
  readonly restored_at?: string;
  readonly evaluation: Evaluation;
}

interface SoundboardLine {
  readonly kind: 'soundboard';
  /** Decimal identifier. */
  readonly id: string;
  readonly changed: boolean;
  readonly soundboard: Soundboard;
}

/** Lists the state, evaluations before soundboards. */
export function* stateLines(
  state: { readonly evaluations: Evaluations; readonly soundboards: Soundboards },
  { kind, changed = false, ids }: StateFilter = {},
): Generator<StateLine> {
  if (kind !== 'soundboard') {
    const { evaluations } = state;
    for (const id of ids ?? (changed ? evaluations.changedIds() : evaluations.ids())) {
      const line = evaluationLine(evaluations, id);
      if (line !== undefined && (line.changed || !changed)) yield line;
    }
  }
  if (kind !== 'evaluation') {
    const { soundboards } = state;
    for (const id of ids ?? (changed ? soundboards.changedIds() : soundboards.ids())) {
      const line = soundboardLine(soundboards, id);
      if (line !== undefined && (line.changed || !changed)) yield line;
    }
  }
}

function evaluationLine(evaluations: Evaluations, id: string): EvaluationLine | undefined {
  const evaluation = evaluations.find(id);
  if (evaluation === undefined) return undefined;
  const restoration = evaluations.restorationOf(id);
  return {
    kind: 'evaluation',
    id,
    changed: restoration !== undefined,
    deleted: isDeleted(evaluation),
    ...(restoration?.userId !== undefined && { restored_by: restoration.userId }),
    ...(restoration && { restored_at: new Date(restoration.at).toISOString() }),
    evaluation,
  };
}

function soundboardLine(soundboards: Soundboards, id: string): SoundboardLine | undefined {
  const soundboard = soundboards.find(id);
  return soundboard && { kind: 'soundboard', id, changed: soundboards.isUpdated(id), soundboard };
}
