import { z } from 'zod';
import { delimiters } from '../../src/base/text/delimiter.ts';
import { outcomes, priorities } from '../../src/domain/terms.ts';
import {
  codeCounts,
  delay,
  next,
  object,
  objectOrNull,
  outcomeCounts,
  processOnHost,
  rows,
  runId,
  runInState,
  runState,
  time,
} from './parts.ts';

const seconds = z.number().min(0).describe('seconds');

const milliseconds = z.int().min(0);

const ratePoint = z.strictObject({
  t_s: seconds.describe('seconds of work since the run was first started'),
  allowed_per_s: z.number().nullable().describe('allowed calls per second; null: unlimited'),
  accepted_per_s: z.number().describe('calls per second that the API accepted'),
  rejected: z.int().min(0).describe('calls that the API rejected as too many'),
  waited_s: seconds.exactOptional().describe('seconds in which no call was possible; absent: 0'),
  reason: z.string().exactOptional().describe('the reason, as text'),
});

const rate = z.strictObject({
  wanted: z.string().describe('as --rate has it: `auto`, `auto..50/s`, `50/s`'),
  limit_per_s: z.number().nullable().describe('limit of the API in calls per second'),
  waited_s: seconds,
  rejected: z.int().min(0),
  series: z.array(ratePoint),
  starts: z
    .array(z.strictObject({ t_s: seconds, at: time }))
    .exactOptional()
    .describe('when work started or continued'),
});

const summary = object('the content of summary.json', {
  version: z.literal(1),
  run: runId,
  state: runState,
  manifest: z.strictObject({
    name: z.string(),
    sha256: z.string(),
    rows,
    left_out: rows.exactOptional().describe('rows that --where has left out, in addition to `rows`'),
  }),
  started_at: time.nullable(),
  finished_at: time.nullable(),
  duration_s: seconds.describe('without the time between a stop and a resume'),
  outcomes: outcomeCounts,
  operations: z.array(
    z.strictObject({
      operation: z.string().describe('empty for rows that name no known operation'),
      outcomes: outcomeCounts,
    }),
  ),
  codes: z.array(
    z.strictObject({
      outcome: z.enum(outcomes),
      code: z.string(),
      count: rows,
      message: z.string().describe('message of the first of these rows'),
      row: z.int().min(1).describe('number of the first of these rows'),
    }),
  ),
  unclear: rows.describe('rows with an attempt that may have been processed without an answer'),
  unclear_failed: rows.describe('those of them that failed'),
  attempts: z.int().min(0).describe('requests'),
  unprocessed: z.int().min(0).describe('requests that were certainly not processed'),
  rows_per_s: z.number().nullable().describe('called rows per second of the duration'),
  latency_ms: z
    .strictObject({ p50: milliseconds, p90: milliseconds, p99: milliseconds, max: milliseconds })
    .nullable(),
  rate: rate.nullable(),
  retry_of: runId.nullable(),
  retries: z.array(runId).describe('retries that the report includes'),
  delimiter: z.enum(delimiters).describe('of the CSV files'),
  digests: objectOrNull('SHA-256 of the files; null while the run is in progress', {
    rows: z.string(),
    journal: z.string(),
    report: z.string(),
  }),
});

const file = z.string().describe('path of a file');

export const report = object('the result of a run, and the files of its report', {
  run: runId,
  state: runState,
  summary,
  files: z.strictObject({
    report: file,
    summary: file,
    failed: file.nullable(),
    not_attempted: file.nullable(),
    xlsx: file.nullable(),
    html: file.nullable(),
  }),
  next,
});

export const knownRun = runInState
  .safeExtend({ outcomes: outcomeCounts, next })
  .describe('a run that has ended before, with --or-resume');

export const submitted = runInState.safeExtend({ next }).describe('the run that a daemon will execute');

export const declinedForRun = object('the user answered no: the run is unchanged', {
  run: runId,
  state: z.literal('declined'),
});

export const rateSet = runInState
  .safeExtend({ rate: z.string().describe('as --rate has it, or `none`') })
  .describe('a run and its new rate');

export const prioritySet = runInState
  .safeExtend({ priority: z.enum(priorities) })
  .describe('a run and its new priority');

export const nothingToUndo = object('no row can be undone by a call', {
  run: runId,
  state: z.literal('nothing sent'),
  undone: z.literal(0),
  not_undone: rows,
  by_hand: rows.describe('rows whose effect can only be undone by hand'),
  files: z.strictObject({ not_undone: file.nullable(), by_hand: file.nullable() }),
});

const worker = z.strictObject({
  ...processOnHost.shape,
  version: z.string(),
  concurrency: z.number().describe('most calls in flight'),
  active: rows.describe('rows in flight'),
  finished: rows.describe('rows finished since the start of the worker'),
  started_at: time,
  seen_at: time.describe('when it was last seen'),
});

const pace = z.strictObject({
  allowed_per_s: z.number().nullable().describe('allowed calls per second; null: unlimited'),
  limit_per_s: z.number().nullable().describe('limit of the API in calls per second; null: not known'),
  concurrency: z.number().describe('calls that may be in flight'),
  reason: z.string().describe('the reason, as text'),
  wait_until: time.nullable().describe('when calls are allowed again; null: now'),
  wait_by: z
    .string()
    .nullable()
    .describe('what asks for a wait of more than a minute, as "Retry-After: 7200"; null: nothing'),
});

const rateGroup = z.string().exactOptional().describe('as in `--rate-group`');

export const status = object('the progress of a run (null: not known here)', {
  run: runId,
  state: runState,
  manifest: z.string(),
  base_url: z.string(),
  rate_group: rateGroup,
  rows,
  done: rows.describe('rows with a result'),
  outcomes: outcomeCounts,
  unclear: rows.nullable(),
  codes: codeCounts.nullable(),
  wanted_rate: z.string().describe('as --rate has it, or `none`'),
  priority: z.enum(priorities),
  rows_per_s: z.number().nullable().describe('finished rows per second, now or on average'),
  waiting: z.string().nullable().describe('what it waits for, so that no row is called now, as text'),
  pace: pace.nullable().describe('how the API is called; null when it is not'),
  process: objectOrNull('the coordinator of the run', {
    ...processOnHost.shape,
    version: z.string().exactOptional(),
  }),
  workers: z.array(worker).describe('processes that call the API of the run'),
  states: z
    .array(z.strictObject({ state: runState, at: time, reason: z.string().exactOptional() }))
    .nullable()
    .describe('the states so far, in order'),
  retry_of: runId.nullable(),
});

export const statuses = object('the progress of several runs, with --watch', { runs: z.array(status) });

export const runList = object('the runs, newest first (null: not known here)', {
  runs: z.array(
    z.strictObject({
      run: runId,
      state: runState,
      waiting: delay,
      manifest: z.string(),
      base_url: z.string(),
      rate_group: rateGroup,
      started_at: time.nullable(),
      duration_s: seconds.nullable().describe('seconds of work'),
      rows,
      done: rows.nullable().describe('rows with a result'),
      succeeded: rows.nullable(),
      failed: rows.nullable(),
      cured: z.boolean().describe('whether retries have left no row to retry'),
      host: z.string().nullable().describe('the machine with the state folder, if that is another one'),
    }),
  ),
});
