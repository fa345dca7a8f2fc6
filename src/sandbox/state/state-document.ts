import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { usageError } from '../../errors.ts';
import { parseJson } from '../../text/json.ts';
import { type Evaluation, type Integer, readIdentifier, type Soundboard } from '../model/entities.ts';
import { generateEvaluation, generateSoundboard } from '../model/generate.ts';

/**
 * What a state file holds. An entry needs its identifier only (1 to 9223372036854775807, as a number or a decimal
 * string): fields that it leaves out are generated from seed and identifier, those that it gives win, `null` removes
 * one. So `{ "evaluation_id": 7 }` is deleted and recoverable, and with `"deleted_at": null` it is not deleted.
 * Further fields are kept and returned.
 */
export interface StateDocument {
  readonly evaluations?: readonly Given<'evaluation_id'>[];
  readonly soundboards?: readonly Given<'soundboard_id'>[];
}

type Given<Key extends string> = Readonly<Record<string, unknown> & Record<Key, Integer | string>>;

/** The entries of a state document by decimal identifier. */
export interface GivenState {
  readonly evaluations: ReadonlyMap<string, Evaluation>;
  readonly soundboards: ReadonlyMap<string, Soundboard>;
}

/**
 * Reads a state file.
 *
 * @throws CqbatchError `INVALID_STATE` when it cannot be read or is no JSON; see `completeState` for the rest.
 */
export async function readStateFile(path: string, seed: number): Promise<GivenState> {
  let document: unknown;
  try {
    document = parseJson(await readFile(path, 'utf8'));
  } catch (cause) {
    throw usageError('INVALID_STATE', `${path}: ${cause instanceof Error ? cause.message : cause}`, cause);
  }
  return completeState(document, seed, path);
}

/**
 * Checks a state document and generates what its entries leave out. `name` is what errors call it.
 *
 * @throws CqbatchError `INVALID_STATE`
 */
export function completeState(document: unknown, seed: number, name: string): GivenState {
  const { success, data, error } = documentSchema.safeParse(document);
  if (!success) {
    const [issue] = error.issues;
    const place = issue?.path.join('.') || 'the document';
    throw usageError('INVALID_STATE', `${name}: ${place}: ${issue?.message}`, error);
  }
  return {
    evaluations: completed(data.evaluations, 'evaluation_id', name, (id) => generateEvaluation(seed, id)),
    soundboards: completed(data.soundboards, 'soundboard_id', name, (id) => generateSoundboard(seed, id)),
  };
}

const identifier = z.unknown().transform((value, context) => {
  const id = readIdentifier(value);
  if (id !== undefined) return id;
  context.addIssue({ code: 'custom', message: 'an identifier is an integer from 1 to 9223372036854775807' });
  return z.NEVER;
});

/** The fields that the sandbox itself looks at; the others are only passed on. */
const documentSchema = z.strictObject({
  evaluations: z
    .array(
      z.looseObject({
        evaluation_id: identifier,
        deleted_at: z.string().nullish(),
        is_recoverable: z.boolean().nullish(),
        evaluation_sections: z.array(z.looseObject({})).nullish(),
      }),
    )
    .default([]),
  soundboards: z.array(z.looseObject({ soundboard_id: identifier })).default([]),
});

/** Entries by identifier. Fields that are only passed on may be of any type, for tests of what clients do with them. */
function completed<Key extends string, Entry extends object>(
  entries: readonly Readonly<Record<Key, Integer> & Record<string, unknown>>[],
  key: Key,
  name: string,
  generate: (id: Integer) => Entry,
): Map<string, Entry> {
  const result = new Map<string, Entry>();
  for (const given of entries) {
    const id = String(given[key]);
    if (result.has(id)) throw usageError('INVALID_STATE', `${name}: ${key} ${id} is given twice`);
    const fields = Object.entries({ ...generate(given[key]), ...given });
    const kept = fields.filter(([, value]) => value !== null && value !== undefined);
    result.set(id, Object.fromEntries(kept) as Entry);
  }
  return result;
}
