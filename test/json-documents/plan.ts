import { z } from 'zod';
import { conflictRules } from '../../src/domain/terms.ts';
import { failure, object, objectOrNull, outcomeCounts, rows, runId, runState, time } from './parts.ts';

const row = z.int().min(1).describe('number of the row, from 1');
const line = z.int().min(1).describe('line of the manifest, from 1');

const rowCounts = {
  rows,
  callable: rows.describe('rows that a run would call'),
  invalid: rows,
  duplicates: rows.describe('rows whose request is that of an earlier row'),
  superseded: rows.describe('rows in whose place a later row of the same entry is called'),
  done_before: rows.describe('rows that earlier runs have done, with --skip-done'),
  conflicts: rows.describe('callable rows that change an entry which an earlier row changes, too'),
  partial: rows.describe('callable rows that leave out fields which the service might reset'),
};

const subject = z.strictObject({ row, subject: z.string().describe('id of the entry') });

const operation = z.strictObject({
  ...rowCounts,
  subjects: rows.describe('number of entries that the callable rows change'),
  first: subject.nullable().describe('the callable row that comes first'),
  last: subject.nullable().describe('the callable row that comes last'),
  fields: z
    .record(
      z.string(),
      z.strictObject({
        given: rows.describe('rows that give the field a value, also the empty text'),
        cleared: rows.describe('rows that send the empty text'),
        absent: rows.describe('rows that leave the field out'),
      }),
    )
    .describe('what the callable rows do to the fields that they may leave out, by name'),
});

const problemGroup = z.strictObject({
  column: z.string().nullable().describe('null when no single column is to blame'),
  problem: z.string(),
  first_value: z.string().nullable().describe('the value of the first row, shortened'),
  rows,
  lines: z
    .array(z.tuple([line, line]))
    .describe('first and last line of each of the first groups of adjacent rows'),
  more_lines: z.boolean().describe('whether there are more groups'),
});

const conflict = z.strictObject({
  operation: z.string(),
  subject: subject.shape.subject,
  row,
  line,
  first_row: row.describe('number of the earlier row of the same entry'),
  first_line: line.describe('line of the earlier row of the same entry'),
});

const earlierRun = object('the latest run of the same manifest against the same API', {
  run: runId,
  at: time,
  state: runState,
  rows,
  outcomes: outcomeCounts.nullable().describe('null when the journal of the run is unreadable'),
  others: z.int().min(0).describe('number of other runs of the manifest, without retries'),
  skip_done: z.array(z.string()).describe('options that leave out what the run has done'),
});

const request = z.strictObject({
  row,
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()).describe('with the token masked'),
  body: z.string().describe('JSON text; empty when the request has no body'),
});

export const plan = object('the content of a manifest, and the effect of a run', {
  manifest: z.string().describe('as the user named it'),
  format: z.enum(['csv', 'tsv', 'xlsx', 'json', 'jsonl']),
  sheet: z.string().exactOptional().describe('of a workbook'),
  ...rowCounts,
  left_out: rows.describe('rows that --where leaves out, in addition to `rows`'),
  operations: z.record(z.string(), operation).describe('by name; without the rows that have no operation'),
  operation_source: z
    .enum(['option', 'manifest', 'inferred', 'column', 'none'])
    .describe('how the operation was chosen'),
  columns: z.array(z.string()),
  fields: z
    .record(z.string(), z.string().nullable())
    .describe('the field that each column stands for; null when it is only kept for the report'),
  target: objectOrNull('null when no base URL is set', {
    base_url: z.string(),
    is_new: z.boolean().nullable().describe('whether no earlier run of this state folder called it'),
  }),
  estimated_s: z.int().nullable().describe('null when no rate is known'),
  proxy: z.string().nullable(),
  ready: z.boolean().describe('whether a run would start'),
  problems: z.strictObject({
    count: z.int().min(0),
    groups: z.array(problemGroup).describe('equal problems together'),
    first: z.array(z.string()).describe('the first problems, as text: `file:line: column: problem (value)`'),
    file: z.string().nullable().describe('a file with all of them'),
  }),
  on_conflict: z.enum(conflictRules),
  conflicts_first: z.array(conflict).describe('the first five'),
  done_in: z.array(z.strictObject({ source: z.string().describe('a run or a report'), rows })),
  run_before: earlierRun.nullable(),
  warnings: z.array(z.strictObject({ code: z.string(), message: z.string() })),
  preview: z.array(request).describe('the first three requests'),
});

export const planOfCommand = plan
  .safeExtend({
    plan_file: z.string().exactOptional().describe('with --out: the signed-off plan'),
    plan_sha256: z.string().exactOptional().describe('its fingerprint'),
  })
  .describe(plan.description ?? '');

export const refusedPlan = failure.safeExtend({ plan }).describe('a plan that is not carried out, and why');

export const approved = object('an approved plan', {
  plan_file: z.string(),
  plan_sha256: z.string(),
  approval_file: z.string().describe('the file of the approval'),
  until: time.describe('the run must begin before'),
});
