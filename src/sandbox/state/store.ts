import {
  type Evaluation,
  type OmittedFields,
  restored,
  type Soundboard,
  updated,
} from '../model/entities.ts';
import { formatTime, generateEvaluation, generateSoundboard } from '../model/generate.ts';
import { type Millionths, whole } from '../options/notation.ts';

/** Everything that the service has. */
export interface State {
  readonly evaluations: Evaluations;
  readonly soundboards: Soundboards;
}

/** Where the state comes from. */
export interface StateSources {
  readonly evaluations: EvaluationSource;
  readonly soundboards: Source<Soundboard>;
}

/** The state before any change. */
export function createState({ evaluations, soundboards }: StateSources): State {
  return { evaluations: new Evaluations(evaluations), soundboards: new Soundboards(soundboards) };
}

interface Source<Thing> {
  readonly seed: number;
  /** Things are generated with the identifiers from 1 to this. */
  readonly generated: number;
  /** Things of a state file by decimal identifier; they win over generated ones. */
  readonly given: ReadonlyMap<string, Thing>;
}

export interface EvaluationSource extends Source<Evaluation> {
  /** Share of the generated ones that cannot be recovered: with 2 %, the identifiers 50, 100, 150, … */
  readonly unrecoverable: Millionths;
  /** Share of the generated ones that are not deleted: with 1 %, the identifiers 70, 170, 270, … */
  readonly notDeleted: Millionths;
}

/**
 * Things as they are before any change: only given ones are kept, the others are generated when asked for. Identifiers
 * are in canonical decimal form, as everywhere in this file.
 */
class Originals<Thing> {
  readonly #source: Source<Thing>;
  readonly #generate: (id: number) => Thing;

  constructor(source: Source<Thing>, generate: (id: number) => Thing) {
    this.#source = source;
    this.#generate = generate;
  }

  original(id: string): Thing | undefined {
    return this.#source.given.get(id) ?? (this.#isGenerated(id) ? this.#generate(Number(id)) : undefined);
  }

  /** Every identifier, generated ones first. */
  *ids(): Generator<string> {
    for (let id = 1; id <= this.#source.generated; id++) yield String(id);
    for (const id of this.#source.given.keys()) {
      if (!this.#isGenerated(id)) yield id;
    }
  }

  #isGenerated(id: string): boolean {
    const { generated } = this.#source;
    // A longer one may be too large to be an exact number.
    return id.length <= String(generated).length && Number(id) >= 1 && Number(id) <= generated;
  }
}

/** What happened to an evaluation since the start. */
interface Restoration {
  /** The `user_id` of the request, when it had one. */
  readonly userId: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Why an evaluation cannot be restored. */
export type RestoreRefusal = 'unknown' | 'not-deleted' | 'not-recoverable';

/** All evaluations. */
export class Evaluations extends Originals<Evaluation> {
  readonly #restorations = new Map<string, Restoration>();

  constructor(source: EvaluationSource) {
    super(source, (id) => originalEvaluation(source, id));
  }

  /** The evaluation as it is now. */
  find(id: string): Evaluation | undefined {
    const original = this.original(id);
    return original && this.#restorations.has(id) ? restored(original) : original;
  }

  /** Restores an evaluation and returns it, or why it cannot be restored. */
  restore(id: string, restoration: Restoration): Evaluation | RestoreRefusal {
    const evaluation = this.original(id);
    if (evaluation === undefined) return 'unknown';
    if (evaluation.deleted_at === undefined || this.#restorations.has(id)) return 'not-deleted';
    if (evaluation.is_recoverable === false) return 'not-recoverable';
    this.#restorations.set(id, restoration);
    return restored(evaluation);
  }

  /** What was restored since the start, in the order of restoration. */
  get changes(): ReadonlyMap<string, Restoration> {
    return this.#restorations;
  }
}

/** All soundboard entries. */
export class Soundboards extends Originals<Soundboard> {
  readonly #updated = new Map<string, Soundboard>();

  constructor(source: Source<Soundboard>) {
    super(source, (id) => generateSoundboard(source.seed, id));
  }

  /** The entry as it is now. */
  find(id: string): Soundboard | undefined {
    return this.#updated.get(id) ?? this.original(id);
  }

  /** Updates an entry and returns it; `undefined` when there is none. `at` is in milliseconds since 1970. */
  update(
    id: string,
    fields: Partial<Soundboard>,
    omitted: OmittedFields,
    at: number,
  ): Soundboard | undefined {
    const soundboard = this.find(id);
    if (soundboard === undefined) return undefined;
    const result = updated(soundboard, fields, omitted, formatTime(at));
    this.#updated.set(id, result);
    return result;
  }

  /** What was updated since the start, in the order of first updates. */
  get changes(): ReadonlyMap<string, Soundboard> {
    return this.#updated;
  }
}

function originalEvaluation({ seed, notDeleted, unrecoverable }: EvaluationSource, id: number): Evaluation {
  const evaluation = generateEvaluation(seed, id);
  if (isInShare(id, notDeleted, notDeletedFirst)) return restored(evaluation);
  if (isInShare(id, unrecoverable)) return { ...evaluation, is_recoverable: false };
  return evaluation;
}

/** So that the shares of 2 % and 1 % do not fall on the same identifiers. */
const notDeletedFirst = 0.7;

/**
 * Whether an identifier belongs to a share that is spread evenly over the identifiers from 1: with 2 %, every 50th.
 * Of those that come round together, `first` (0 to 1) moves where in its round each one stands.
 */
export function isInShare(identifier: number, share: Millionths, first = 1): boolean {
  return (identifier * share + Math.round((1 - first) * whole)) % whole < share;
}
