import { generateSoundboard } from '../model/generate-soundboard.ts';
import { type OmittedFields, type Soundboard, type SoundboardFields, updated } from '../model/soundboard.ts';
import { formatTime } from '../model/time.ts';
import { allIds, generatedId } from './identifiers.ts';

/** Where soundboard entries come from before any change. */
export interface SoundboardSource {
  readonly seed: number;
  /** Entries are generated with the identifiers from 1 to this. */
  readonly generated: number;
  /** Entries of a state file by decimal identifier; they win over generated ones. */
  readonly given: ReadonlyMap<string, Soundboard>;
}

/** All soundboard entries. Only changed ones are kept: the others are generated when they are asked for. */
export class Soundboards {
  readonly #source: SoundboardSource;
  readonly #updated = new Map<string, Soundboard>();

  constructor(source: SoundboardSource) {
    this.#source = source;
  }

  /** The entry as it is now. `id` is in canonical decimal form, as everywhere in this class. */
  find(id: string): Soundboard | undefined {
    const known = this.#updated.get(id) ?? this.#source.given.get(id);
    if (known !== undefined) return known;
    const generated = generatedId(id, this.#source.generated);
    return generated === undefined ? undefined : generateSoundboard(this.#source.seed, generated);
  }

  /** Updates an entry and returns it; `undefined` when there is none. `at` is in milliseconds since 1970. */
  update(id: string, fields: SoundboardFields, omitted: OmittedFields, at: number): Soundboard | undefined {
    const soundboard = this.find(id);
    if (soundboard === undefined) return undefined;
    const result = updated(soundboard, fields, omitted, formatTime(at));
    this.#updated.set(id, result);
    return result;
  }

  isUpdated(id: string): boolean {
    return this.#updated.has(id);
  }

  /** Every identifier, generated ones first. */
  ids(): Iterable<string> {
    return allIds(this.#source.generated, this.#source.given);
  }

  /** Identifiers of the entries that were updated since the start, in the order of their first update. */
  changedIds(): Iterable<string> {
    return this.#updated.keys();
  }

  get updatedCount(): number {
    return this.#updated.size;
  }
}
