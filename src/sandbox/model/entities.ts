/**
 * The things of the service (interface document, section 2). Every field may be absent, as the document does not say
 * which are required (2.7), and what is not looked at here is only passed on: a state file may hold anything.
 */
type Entity = Readonly<Record<string, unknown>>;

/** Section 2.1. `deleted_at` says whether it is deleted. */
export interface Evaluation extends Entity {
  readonly evaluation_id: Integer;
  readonly deleted_at?: string;
  readonly is_recoverable?: boolean;
  readonly evaluation_sections?: readonly Entity[];
}

/** Section 2.6. */
export interface Soundboard extends Entity {
  readonly soundboard_id: Integer;
}

/** The only state that the document shows (section 3); the sandbox knows no other. */
export const evaluationInProgress = 'EVALUATION_IN_PROGRESS';

/** The evaluation after a restore: no trace of the deletion, in it or in its sections. */
export function restored(evaluation: Evaluation): Evaluation {
  const { deleted_at, deleted_by, evaluation_sections, ...rest } = evaluation;
  return {
    ...rest,
    evaluation_state: evaluationInProgress,
    ...(evaluation_sections && {
      evaluation_sections: evaluation_sections.map(({ deleted_at, ...section }) => section),
    }),
  };
}

/** What happens to fields that an update leaves out (not said in the document): they stay, or they are removed. */
export const omittedFields = ['keep', 'reset'] as const;
export type OmittedFields = (typeof omittedFields)[number];

/**
 * The entry after an update. `last_modified` is the service's own: it is the time of the update, whatever was sent.
 * `date_created` stays when it is left out, even where other fields are reset.
 */
export function updated(
  soundboard: Soundboard,
  fields: Entity,
  omitted: OmittedFields,
  time: string,
): Soundboard {
  const { soundboard_id, date_created } = soundboard;
  const kept = omitted === 'keep' ? soundboard : { soundboard_id, ...(date_created ? { date_created } : {}) };
  return { ...kept, ...fields, last_modified: time };
}

/** An exact integer, as `json.ts` reads it: `number` where that is safe, otherwise `bigint`. */
export type Integer = number | bigint;

/** The largest identifier: 64 bits, signed. */
export const maxIdentifier = 2n ** 63n - 1n;

/** Reads an integer that JSON gives as a number or as a decimal string (interface document, section 2). */
export function readInteger(value: unknown): Integer | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) return undefined;
  const exact = BigInt(value);
  const inexact = Number(exact);
  return Number.isSafeInteger(inexact) ? inexact : exact;
}

/** Reads an identifier: an integer from 1 to 9223372036854775807. */
export function readIdentifier(value: unknown): Integer | undefined {
  const identifier = readInteger(value);
  return identifier !== undefined && identifier >= 1 && identifier <= maxIdentifier ? identifier : undefined;
}
