import { z } from 'zod';
import { outcomes } from '../../src/domain/terms.ts';
import { runStates } from '../../src/engine/run/record/record.ts';
import { nameInWords } from '../../src/settings/settings.ts';

/** What several documents have in common. The published file has a definition of each of these. */

export const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .describe('ISO 8601, UTC');

export const rows = z.int().min(0).describe('number of rows');

export const runId = z.string().describe('id of a run');

export const runState = z.enum(runStates);

export const delay = z.string().nullable().describe('why the datastore delays the run, as text');

export const outcomeCounts = z
  .strictObject(
    Object.fromEntries(outcomes.map((outcome) => [outcome, rows])) as Record<
      (typeof outcomes)[number],
      typeof rows
    >,
  )
  .describe('number of rows by outcome');

export const codeCounts = z
  .array(z.strictObject({ outcome: z.enum(outcomes), code: z.string(), count: rows }))
  .describe('number of rows by outcome and code, as in the report');

export const actor = z
  .strictObject({
    user: z.string().describe('of the operating system'),
    host: z.string(),
    version: z.string().exactOptional().describe('of cqbatch'),
  })
  .describe('the author of an action');

export const processOnHost = z.strictObject({ pid: z.int(), host: z.string() });

export const next = z.array(z.string()).describe('commands to type next');

export const failure = z
  .strictObject({
    error: z.strictObject({
      code: z.string().describe('stable, in upper case; errors.md lists the codes'),
      message: z.string().describe('what happened, and what to do, as text'),
    }),
  })
  .describe('why the command failed');

export const interrupted = z
  .strictObject({ state: z.literal('interrupted') })
  .describe('that the user has stopped the command: nothing was sent or changed');

export const declined = z
  .strictObject({ state: z.literal('declined') })
  .describe('the user answered no: nothing was sent');

export const runInState = z.strictObject({ run: runId, state: runState }).describe('a run and its state now');

/** The members of an object, named as in documents: `leftOut` is `left_out`. */
export function namedInWords(shape: z.ZodRawShape): z.ZodRawShape {
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [nameInWords(name, '_'), schema]));
}
