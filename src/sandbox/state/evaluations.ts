import { type Evaluation, isDeleted, restored } from '../model/evaluation.ts';
import { generateEvaluation } from '../model/generate-evaluation.ts';
import { isInShare, type Millionths } from '../options/share.ts';
import { allIds, generatedId } from './identifiers.ts';

/** Where evaluations come from before any change. */
export interface EvaluationSource {
  readonly seed: number;
  /** Evaluations are generated with the identifiers from 1 to this. */
  readonly generated: number;
  /** Share of the generated ones that cannot be recovered: with 2 %, the identifiers 50, 100, 150, … */
  readonly unrecoverable: Millionths;
  /** Share of the generated ones that are not deleted: with 1 %, the identifiers 70, 170, 270, … */
  readonly notDeleted: Millionths;
  /** Evaluations of a state file by decimal identifier; they win over generated ones. */
  readonly given: ReadonlyMap<string, Evaluation>;
}

/** What happened to an evaluation since the start. */
export interface Restoration {
  /** The `user_id` of the request; absent when it had none. */
  readonly userId?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Why an evaluation cannot be restored. */
export type RestoreRefusal = 'unknown' | 'not-deleted' | 'not-recoverable';

export type RestoreResult =
  | { readonly ok: true; readonly evaluation: Evaluation }
  | { readonly ok: false; readonly reason: RestoreRefusal };

/** All evaluations. Only changes are kept: the others are generated when they are asked for. */
export class Evaluations {
  readonly #source: EvaluationSource;
  readonly #restorations = new Map<string, Restoration>();

  constructor(source: EvaluationSource) {
    this.#source = source;
  }

  /** The evaluation as it is now. `id` is in canonical decimal form, as everywhere in this class. */
  find(id: string): Evaluation | undefined {
    const original = this.#original(id);
    return original && this.#restorations.has(id) ? restored(original) : original;
  }

  restore(id: string, restoration: Restoration): RestoreResult {
    const evaluation = this.#original(id);
    if (evaluation === undefined) return { ok: false, reason: 'unknown' };
    if (!isDeleted(evaluation) || this.#restorations.has(id)) return { ok: false, reason: 'not-deleted' };
    if (evaluation.is_recoverable === false) return { ok: false, reason: 'not-recoverable' };
    this.#restorations.set(id, restoration);
    return { ok: true, evaluation: restored(evaluation) };
  }

  /** The restoration of an evaluation that was restored since the start. */
  restorationOf(id: string): Restoration | undefined {
    return this.#restorations.get(id);
  }

  /** Every identifier, generated ones first. */
  ids(): Iterable<string> {
    return allIds(this.#source.generated, this.#source.given);
  }

  /** Identifiers of the evaluations that were restored since the start, in the order of their restoration. */
  changedIds(): Iterable<string> {
    return this.#restorations.keys();
  }

  get restoredCount(): number {
    return this.#restorations.size;
  }

  #original(id: string): Evaluation | undefined {
    const given = this.#source.given.get(id);
    if (given !== undefined) return given;
    const generated = generatedId(id, this.#source.generated);
    if (generated === undefined) return undefined;
    const evaluation = generateEvaluation(this.#source.seed, generated);
    if (isInShare(generated, this.#source.notDeleted, notDeletedFirst)) return restored(evaluation);
    if (isInShare(generated, this.#source.unrecoverable)) return { ...evaluation, is_recoverable: false };
    return evaluation;
  }
}

/** So that the shares of 2 % and 1 % do not fall on the same identifiers. */
const notDeletedFirst = 0.7;
