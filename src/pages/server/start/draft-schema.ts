import { z } from 'zod';
import type { ErrorCode } from '../../../base/errors/error-codes.ts';
import { actorSchema } from '../../../domain/actor.ts';
import { conflictRules } from '../../../domain/terms.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const shortText = z.string().min(1).max(200);

/** What a plan needs to know besides its rows, as the person has answered on the page. The names are those of the options. */
export const choicesSchema = z.strictObject({
  operation: shortText.exactOptional(),
  /** The field of each column that has another header. */
  map: z.record(shortText, shortText).exactOptional(),
  userId: shortText.exactOptional(),
  skipInvalid: z.literal(true).exactOptional(),
  allowPartial: z.literal(true).exactOptional(),
  compare: z.literal(true).exactOptional(),
  onConflict: z.enum(conflictRules).exactOptional(),
  /** Of a retry: only rows that may succeed although no person has changed anything. */
  transient: z.literal(true).exactOptional(),
  /** Of a retry: only unclear rows that no check has found done. */
  unclear: z.literal(true).exactOptional(),
});

/** What `cqbatch plan --json` says, as far as the page needs it. */
export const plannedSchema = z.object({
  ready: z.boolean(),
  /** The number of requests that a run of the plan sends. */
  callable: z.number(),
  invalid: z.number(),
  partial: z.number(),
  conflicts: z.number(),
  columns: z.array(z.string()),
  /** The field of each column; null for a column that is not sent. */
  fields: z.record(z.string(), z.string().nullable()),
  /** The names of the operations that are called. */
  operations: z.array(z.string()),
  /** The SHA-256 of the plan file, which exists if the plan is ready. */
  plan_sha256: z.string().exactOptional(),
});

export const sourceSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), name: z.string(), sha256: z.string(), bytes: z.number() }),
  z.object({ kind: z.enum(['retry', 'undo']), run: z.string() }),
]);

/** A run that is prepared on a page: what it is planned from, what the person has chosen, and what the latest plan says. */
export const draftSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  /** ISO 8601 UTC. */
  madeAt: z.string(),
  madeBy: actorSchema.exactOptional(),
  source: sourceSchema,
  choices: choicesSchema,
  planned: plannedSchema.exactOptional(),
  /** Why there is no plan. Absent if there is one, and before the first. */
  refusal: z.object({ code: z.custom<ErrorCode>(isText), message: z.string() }).exactOptional(),
  /** The run that was started. The bytes of the draft are gone then. */
  run: z.string().exactOptional(),
});
