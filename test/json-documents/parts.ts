import { z } from 'zod';
import { outcomes } from '../../src/domain/terms.ts';
import { runStates } from '../../src/engine/run/record/record.ts';
import { nameInWords } from '../../src/settings/settings.ts';

/** What several documents have in common. The published file has a definition of each of these. */

/** An object with these members and no others, and what it is. */
export const object = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.strictObject(shape).describe(description);

/** Such an object or null, and what both mean. */
export const objectOrNull = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.strictObject(shape).nullable().describe(description);

/** Any number of such objects, and what they are. */
export const list = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.array(z.strictObject(shape)).describe(description);

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

export const codeCounts = list('number of rows by outcome and code, as in the report', {
  outcome: z.enum(outcomes),
  code: z.string(),
  count: rows,
});

export const actor = object('the author of an action', {
  user: z.string().describe('of the operating system'),
  host: z.string(),
  version: z.string().exactOptional().describe('of cqbatch'),
});

export const processOnHost = z.strictObject({ pid: z.int(), host: z.string() });

export const next = z.array(z.string()).describe('commands to type next');

export const failure = object('why the command failed', {
  error: z.strictObject({
    code: z.string().describe('stable, in upper case; errors.md lists the codes'),
    message: z.string().describe('what happened, and what to do, as text'),
  }),
});

export const interrupted = object('that the user has stopped the command: nothing was sent or changed', {
  state: z.literal('interrupted'),
});

export const declined = object('the user answered no: nothing was sent', { state: z.literal('declined') });

export const runInState = z.strictObject({ run: runId, state: runState }).describe('a run and its state now');

/** The members of an object, named as in documents: `leftOut` is `left_out`. */
export function namedInWords(shape: z.ZodRawShape): z.ZodRawShape {
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [nameInWords(name, '_'), schema]));
}
