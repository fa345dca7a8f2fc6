import { formatTime, generateEvaluation } from './generate.ts';
import { type Millionths, wholeShare } from './notation.ts';
import type { SandboxSettings } from './options.ts';
import { generateSoundboard, type Soundboard, updateRules } from './soundboard.ts';

/** An evaluation (interface document, section 2.1). It is deleted if it has `deleted_at`. */
export interface Evaluation extends Readonly<Record<string, unknown>> {
  readonly scorecard_id: number;
  readonly agent_user_id: string;
  readonly completed_at: string;
  readonly deleted_at?: string;
  readonly is_recoverable?: boolean;
  readonly evaluation_sections?: readonly Readonly<Record<string, unknown>>[];
}

interface Restoration {
  readonly userId: string | undefined;
  /** The time in milliseconds since 1970. */
  readonly at: number;
}

/** A deletion of an evaluation that was not deleted, or no longer was. */
interface Deletion {
  readonly deleted_by: string;
  readonly deleted_at: string;
}

type RestoreRefusal = 'was not found' | 'is not deleted' | 'is not recoverable';

/** Generates entities on request, and stores only changes. */
export class State {
  readonly settings: SandboxSettings;
  /** The restorations by decimal identifier, in order. */
  readonly restorations = new Map<string, Restoration>();
  /** The deletions by decimal identifier, in order. A restoration ends a deletion. */
  readonly deletions = new Map<string, Deletion>();
  /** The updated soundboards by decimal identifier, in the order of first updates. */
  readonly updates = new Map<string, Soundboard>();

  constructor(settings: SandboxSettings) {
    this.settings = settings;
  }

  evaluation(id: bigint): Evaluation | undefined {
    const { seed, evaluations, unrecoverable } = this.settings;
    if (id < 1 || id > evaluations) return undefined;
    const evaluation = generateEvaluation(seed, id);
    if (!this.isDeleted(id)) return withoutDeletion(evaluation);
    const isRecoverable = !isInShare(id, unrecoverable);
    return { ...evaluation, ...this.deletions.get(String(id)), is_recoverable: isRecoverable };
  }

  /** Does not generate the evaluation. */
  isDeleted(id: bigint): boolean {
    const key = String(id);
    if (this.deletions.has(key)) return true;
    return !this.restorations.has(key) && !isInShare(id, this.settings.notDeleted, notDeletedFirst);
  }

  soundboard(id: bigint): Soundboard | undefined {
    const { seed, soundboards } = this.settings;
    if (id < 1 || id > soundboards) return undefined;
    return this.updates.get(String(id)) ?? generateSoundboard(seed, id);
  }

  restore(id: bigint, restoration: Restoration): Evaluation | RestoreRefusal {
    const evaluation = this.evaluation(id);
    if (evaluation === undefined) return 'was not found';
    if (evaluation.deleted_at === undefined) return 'is not deleted';
    if (evaluation.is_recoverable === false) return 'is not recoverable';
    this.deletions.delete(String(id));
    this.restorations.set(String(id), restoration);
    return withoutDeletion(evaluation);
  }

  /** Deletes an evaluation that is not deleted. */
  delete(id: bigint, deletedBy: string, at: number): void {
    this.restorations.delete(String(id));
    this.deletions.set(String(id), { deleted_by: deletedBy, deleted_at: formatTime(at) });
  }

  /**
   * Undefined when the entry does not exist. `--updates` decides about fields that are left out or empty, because the document does not.
   * `last_modified` is the time of the update, whether the request has it or not.
   */
  update(id: bigint, fields: Partial<Soundboard>, at: number): Soundboard | undefined {
    const soundboard = this.soundboard(id);
    if (soundboard === undefined) return undefined;
    const changed = updateRules[this.settings.updates](soundboard, fields);
    const result = { ...changed, last_modified: formatTime(at) };
    this.updates.set(String(id), result);
    return result;
  }
}

/** Removes each trace of the deletion, also in the sections. */
function withoutDeletion({ deleted_at, deleted_by, evaluation_sections, ...rest }: Evaluation): Evaluation {
  const sections = evaluation_sections?.map(({ deleted_at, ...section }) => section);
  return { ...rest, ...(sections && { evaluation_sections: sections }) };
}

/** Not 1, so that shares of 2 % and 1 % do not fall on the same identifiers. */
const notDeletedFirst = 0.7;

/**
 * Whether an identifier belongs to a share that is spread evenly over the identifiers from 1: with 2 %, every 50th. `first` (0 to 1) moves
 * the positions.
 */
export function isInShare(identifier: bigint, share: Millionths, first = 1): boolean {
  // Treats identifiers a million apart alike, because their products with the share might not be exact.
  const position = Number(identifier % BigInt(wholeShare));
  return (position * share + Math.round((1 - first) * wholeShare)) % wholeShare < share;
}
