import { z } from 'zod';
import { rowNumberSchema, textsSchema } from '../../base/text/json-line.ts';
import { type Attempt, type AttemptHistory, outcomes, type RowResult } from '../../domain/terms.ts';

const attemptSchema: z.ZodType<Attempt> = z.object({
  at: z.string().exactOptional(),
  durationMs: z.number().exactOptional(),
  code: z.string().exactOptional(),
  message: z.string().exactOptional(),
  httpStatus: z.number().exactOptional(),
  requestId: z.string().exactOptional(),
  requests: z.number().exactOptional(),
  omitted: z.number().exactOptional(),
});

export const resultSchema: z.ZodType<RowResult> = z.object({
  row: rowNumberSchema,
  operation: z.string(),
  outcome: z.enum(outcomes),
  code: z.string(),
  message: z.string(),
  httpStatus: z.number().exactOptional(),
  requestId: z.string().exactOptional(),
  attempts: z.number(),
  unprocessed: z.number().exactOptional(),
  unclear: z.boolean(),
  startedAt: z.string().exactOptional(),
  finishedAt: z.string().exactOptional(),
  durationMs: z.number().exactOptional(),
  columns: textsSchema.exactOptional(),
  earlier: z.array(attemptSchema).exactOptional(),
});

const singledOutSchema = z.object({ refusals: z.number(), others: z.number() });

export const historySchema: z.ZodType<AttemptHistory> = z.object({
  attempts: z.number(),
  unprocessed: z.number(),
  unclear: z.boolean(),
  singledOut: singledOutSchema.exactOptional(),
  failedAlone: singledOutSchema.exactOptional(),
  startedAt: z.string().exactOptional(),
  lastCode: z.string().exactOptional(),
  lastMessage: z.string().exactOptional(),
  lastStatus: z.number().exactOptional(),
  earlier: z.array(attemptSchema).exactOptional(),
});
