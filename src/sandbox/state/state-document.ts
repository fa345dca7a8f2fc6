import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { usageError } from '../../errors.ts';
import { parseJson } from '../../json.ts';
import type { Evaluation } from '../model/evaluation.ts';
import { generateEvaluation } from '../model/generate-evaluation.ts';
import { generateSoundboard } from '../model/generate-soundboard.ts';
import { type Integer, readIdentifier } from '../model/integer.ts';
import type { Soundboard } from '../model/soundboard.ts';

/**
 * What a state file holds. An entry needs its identifier only (1 to 9223372036854775807, as a number or a decimal
 * string): fields that it leaves out are generated from seed and identifier, those that it gives win, `null` removes
 * one. So `{ "evaluation_id": 7 }` is deleted and recoverable, and with `"deleted_at": null` it is not deleted.
 * Further fields are kept and returned.
 */
export interface StateDocument {
  readonly evaluations?: readonly GivenEvaluation[];
  readonly soundboards?: readonly GivenSoundboard[];
}

type GivenEvaluation = Readonly<Record<string, unknown>> & {
  readonly evaluation_id: Integer | string;
};
type GivenSoundboard = Readonly<Record<string, unknown>> & {
  readonly soundboard_id: Integer | string;
};

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
    throw usageError(
      'INVALID_STATE',
      `${name}: ${issue?.path.join('.') || 'the document'}: ${issue?.message}`,
      error,
    );
  }
  return {
    evaluations: byIdentifier(data.evaluations, 'evaluation_id', name, (given, id) =>
      complete(generateEvaluation(seed, id), given),
    ),
    soundboards: byIdentifier(data.soundboards, 'soundboard_id', name, (given, id) =>
      complete(generateSoundboard(seed, id), given),
    ),
  };
}

const identifier = z.unknown().transform((value, context) => {
  const id = readIdentifier(value);
  if (id !== undefined) return id;
  context.addIssue({
    code: 'custom',
    message: 'an identifier is an integer from 1 to 9223372036854775807',
  });
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

function byIdentifier<Key extends string, Given extends Readonly<Record<Key, Integer>>, Entry>(
  entries: readonly Given[],
  key: Key,
  name: string,
  entryOf: (given: Given, id: Integer) => Entry,
): Map<string, Entry> {
  const result = new Map<string, Entry>();
  for (const given of entries) {
    const id = String(given[key]);
    if (result.has(id)) throw usageError('INVALID_STATE', `${name}: ${key} ${id} is given twice`);
    result.set(id, entryOf(given, given[key]));
  }
  return result;
}

/** Fields that are only passed on may be of any type: a test may want to see what a client does with them. */
function complete<Entry extends object>(generated: Entry, given: Readonly<Record<string, unknown>>): Entry {
  const fields = Object.entries({ ...generated, ...given });
  return Object.fromEntries(fields.filter(([, value]) => value !== null && value !== undefined)) as Entry;
}
