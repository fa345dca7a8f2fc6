import { z } from 'zod';
import { delimiters } from '../../base/text/delimiter.ts';
import { actorSchema } from '../../domain/actor.ts';

/** The rows in each of the `blocks` of a head. */
export const rowsInBlock = 1_000;

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);
const countSchema = z.number().int().min(0);

const countsSchema = z.strictObject({
  rows: countSchema,
  callable: countSchema,
  invalid: countSchema,
  duplicates: countSchema,
  superseded: countSchema,
  doneBefore: countSchema,
  asWanted: countSchema,
  conflicts: countSchema,
  partial: countSchema,
});

const subjectSchema = z.strictObject({ row: countSchema, subject: z.string() });

const operationSchema = z.strictObject({
  name: z.string(),
  thing: z.string(),
  done: z.string().exactOptional(),
  subject: z.string(),
  /** The fields of the operation, in the order of a row's `values`. */
  fields: z.array(z.strictObject({ name: z.string(), required: z.boolean(), undoable: z.boolean() })),
  /** The columns that the operation adds to the report. */
  columns: z.array(z.string()),
  mayReset: z.boolean().exactOptional(),
  /** What makes the `Idempotency-Key` of a row. */
  key: z.enum(['by run', 'by row']).exactOptional(),
  /** How calls name their caller. */
  auth: z
    .union([z.enum(['bearer', 'basic', 'none']), z.strictObject({ header: z.string() })])
    .exactOptional(),
  /** SHA-256 of the user's module that defines the operation. */
  module: sha256Schema.exactOptional(),
  counts: countsSchema,
  first: subjectSchema.exactOptional(),
  last: subjectSchema.exactOptional(),
  effects: z.record(
    z.string(),
    z.strictObject({ given: countSchema, cleared: countSchema, absent: countSchema }),
  ),
});

/** The version of `rows.jsonl`. Since version 2, the members that a call needs come first in a line. */
export const rowsVersion = 2;

/** The first line of `rows.jsonl`; docs/report.md describes it for readers. */
export const rowsHeadSchema = z.strictObject({
  rows_version: z.literal(rowsVersion),
  source: z.strictObject({
    /** The file as the user typed it, or what its rows were made of. */
    name: z.string(),
    /** The SHA-256 of the file; for rows made from a run, that of the run's rows. */
    sha256: sha256Schema,
    bytes: countSchema,
    format: z.string(),
    delimiter: z.enum(delimiters).exactOptional(),
    sheet: z.string().exactOptional(),
    encoding: z.string().exactOptional(),
  }),
  /** The user's options for reading the file. */
  reading: z.record(z.string(), z.json()),
  clear_token: z.string(),
  /** The columns, with their titles as written. A column without a field is kept for the report. */
  columns: z.array(z.strictObject({ title: z.string(), field: z.string().exactOptional() })),
  defaults: z.record(z.string(), z.string()),
  operations: z.array(operationSchema),
  counts: countsSchema,
  /** The number of rows that `--where` left out. */
  left_out: countSchema,
  /** Runs and reports whose done rows are left out. */
  skip_done: z.array(z.string()).exactOptional(),
  /** The lists with whose entries the rows were compared. */
  compared: z
    .array(z.strictObject({ list: z.string(), listed: countSchema, read_at: z.string() }))
    .exactOptional(),
  /** Set if some row numbers differ from places. */
  renumbered: z.literal(true).exactOptional(),
  /** The run whose rows are called again, or put back. */
  derived: z.strictObject({ as: z.enum(['retry', 'undo']), of: z.string() }).exactOptional(),
  warnings: z.array(z.strictObject({ code: z.string(), message: z.string() })),
  operation_source: z.enum(['column', 'option', 'manifest', 'inferred', 'none']),
  options: z.record(z.string(), z.json()),
  /** What the user of a plan file accepts. */
  consent: z.strictObject({ skip_invalid: z.boolean(), allow_partial: z.boolean() }).exactOptional(),
  made_at: z.string(),
  made_by: actorSchema.exactOptional(),
  /** Bytes of each thousand rows, so that a part can be read alone. */
  blocks: z.array(countSchema),
});

export type RowsHead = Readonly<z.infer<typeof rowsHeadSchema>>;

export type HeadOperation = RowsHead['operations'][number];
