import { z } from 'zod';
import { outcomes } from '../../src/domain/terms.ts';
import { runOptionsSchema, runRecordSchema } from '../../src/engine/run/record/record.ts';
import {
  actor,
  codeCounts,
  delay,
  list,
  namedInWords,
  object,
  objectOrNull,
  outcomeCounts,
  rows,
  runId,
  runInState,
  runState,
  time,
} from './parts.ts';

/** What `cqbatch show` prints. */

const { baseUrl: _, ...options } = runOptionsSchema.shape;
const shownOptions = {
  ...options,
  rate: z.string().exactOptional().describe('as in `--rate`'),
  canary: z.strictObject(namedInWords(options.canary.unwrap().shape)).exactOptional(),
};
const { plan, canary } = runRecordSchema.shape;

const event = z.strictObject({
  at: time.nullable().describe('null when the time is not known'),
  event: z
    .string()
    .describe('`planned`, `begun`, `resumed`, `rate 20/s`, …, or the state that the run entered'),
  by: actor.nullable(),
  reason: z.string().nullable(),
  duration_s: z.int().min(0).exactOptional().describe('seconds of work in this state'),
});

export const audit = object('what happened to a run', {
  run: runId,
  state: runState,
  waiting: delay,
  planned_at: time.nullable(),
  by: actor.nullable(),
  reason: z.string().nullable(),
  folder: z.string().describe('path of the folder of the run'),
  manifest: z.strictObject({
    name: z.string(),
    sha256: z.string(),
    bytes: z.int().min(0),
  }),
  base_url: z.string(),
  datastore: z.string().nullable().describe('URL of the shared datastore; null: embedded'),
  plan: z.strictObject(namedInWords(plan.shape)).describe('number of rows, as planned'),
  approval: objectOrNull('the signed-off plan', {
    file: z.string(),
    sha256: z.string(),
    made_at: time,
    signers: list('the signed approvals that counted; key: its fingerprint', {
      name: z.string(),
      key: z.string(),
      at: time,
      until: time,
    }),
  }),
  options: z.strictObject(namedInWords(shownOptions)).describe('times in milliseconds'),
  events: z.array(event),
  outcomes: outcomeCounts.nullable().describe('null when the journal is unreadable'),
  unclear: rows.nullable(),
  codes: codeCounts.nullable(),
  duration_s: z.int().min(0).nullable().describe('seconds of work'),
  canary: z.strictObject(namedInWords(canary.unwrap().shape)).nullable(),
  retry_of: runId.nullable(),
  retries: z.array(runInState),
  undo_of: runId.nullable(),
  undone_by: z.array(runInState),
});

const attempt = z.strictObject({
  at: time.nullable(),
  duration_ms: z.number().nullable(),
  http_status: z.int().nullable(),
  request_id: z.string().nullable().describe('by which the answer names the request'),
  code: z.string().nullable().describe('null when the process of the attempt has died'),
  message: z.string().nullable(),
  requests: z.int().min(0),
  omitted_before: z.int().min(0).describe('attempts before this one that are not kept'),
  waited_ms: z.number().nullable().describe('from the end of this attempt to the next one'),
});

const response = z.strictObject({
  at: time.describe('when the attempt began'),
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  cut: z.boolean().describe('whether the body was longer'),
});

const problem = z.strictObject({
  column: z.string().exactOptional(),
  problem: z.string(),
  value: z.string().exactOptional(),
  letters: z.string().exactOptional().describe('name of the column in a workbook'),
});

export const rowStory = object('the story of a row, with --row', {
  run: runId,
  row: z.int().min(1),
  line: z.int().min(1).describe('line of the manifest'),
  manifest: z.string(),
  cells: z.record(z.string(), z.string()).describe('by column'),
  operation: z.string().nullable(),
  request: objectOrNull('null when the row is invalid', {
    method: z.string().exactOptional().describe('absent: POST'),
    path: z.string(),
    headers: z
      .record(z.string(), z.string())
      .exactOptional()
      .describe('absent: none besides those of the client'),
    body: z.string(),
  }),
  problems: z.array(problem).describe('why the row is invalid'),
  runs: list('the run and its retries, the oldest first', {
    run: runId,
    state: runState,
    row_in_run: z.int().min(1).describe('place of the row in rows.jsonl of this run'),
    outcome: z.enum(outcomes),
    code: z.string(),
    message: z.string(),
    unclear: z.boolean(),
    duplicate_of: z.int().min(1).nullable().describe('the row that was called in place of this one'),
    trace_id: z.string().describe('of all calls of the row in this run, in the header `traceparent`'),
    columns: z.record(z.string(), z.string()).describe('columns of the report, without the `_`'),
    attempts: z.array(attempt),
    attempts_untold: z.int().min(0).describe('attempts without details'),
    responses: z.array(response).describe('with --save-responses'),
  }),
});

const folder = z.string().describe('folder of the run');

export const runProof = object('The files of a run agree.', {
  folder,
  proved: z.literal(true),
  run: runId,
  state: runState,
  rows,
  outcomes: outcomeCounts,
  compared: z.boolean().describe('whether its report was made again and compared'),
  digests: z.record(z.string(), z.string()).describe('SHA-256 by the name of the file'),
  unchecked: z.array(z.string()).describe('what could not be checked: sentences'),
});

export const unprovedRun = object('The files of a run do not agree.', {
  folder,
  proved: z.literal(false),
  problem: z.string().describe('the first thing that is wrong: file, line, what'),
});
