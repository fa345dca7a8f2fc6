import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { z } from 'zod';
import { actorSchema, attributed } from '../../actor.ts';
import { createFile, ifThere, readSmallFile, writeFileAtomically } from '../../disk/files.ts';
import { usageError } from '../../errors.ts';
import type { RowCounts } from '../../manifest/check/row-counts.ts';
import { hashFile } from '../../manifest/stage.ts';
import { type Envelope, envelopeSchema } from '../../signature/envelope.ts';
import { onDisk, systemError } from '../../system-error.ts';
import { escapeInvisible, printableJson } from '../../text/printable.ts';
import { runOptionsSchema } from '../record/record.ts';

/** Suffix of files with a signed-off plan. */
export const planSuffix = '.cqplan';

const contentSchema = z.object({
  cqplan: z.literal(1),
  manifest: z.object({
    /** Relative to the folder of the plan, with slashes. */
    path: z.string(),
    sha256: z.string(),
    bytes: z.number(),
  }),
  options: runOptionsSchema,
  /** Whether to leave out invalid rows. */
  skip_invalid: z.boolean(),
  /** Whether rows may omit fields that the API might reset. */
  allow_partial: z.boolean(),
  counts: z.object({
    rows: z.number(),
    callable: z.number(),
    invalid: z.number(),
    duplicates: z.number(),
    superseded: z.number(),
    partial: z.number(),
  }),
  made_at: z.string(),
  made_by: actorSchema.exactOptional(),
  /** Of earlier versions: a name that was typed. */
  approved_by: z.string().exactOptional(),
});

type PlanContent = Readonly<z.infer<typeof contentSchema>>;

/** A plan as its file has it. */
export interface PlanDocument extends PlanContent {
  /** SHA-256 of the plan's content, in hexadecimal. It reveals a change, but not the author. */
  readonly sha256: string;
  /** Signed approvals, not part of the content: see `approvals.ts`. */
  readonly approvals: readonly Envelope[];
}

/** A signed-off plan: it defines a run, to the byte. */
export interface ApprovedPlan extends PlanDocument {
  /** The file of the plan. */
  readonly file: string;
  /** Path of the manifest. */
  readonly source: string;
}

/** The content of a plan. */
export interface ApprovalInput extends Pick<PlanContent, 'options' | 'skip_invalid' | 'allow_partial'> {
  /** Path of the manifest. */
  readonly source: string;
  readonly counts: RowCounts;
}

/**
 * Writes a plan that can be carried out later and elsewhere.
 *
 * @throws a usage error `PLAN_EXISTS` when the file exists: a signed-off plan is never replaced.
 */
export async function writeApprovedPlan(
  file: string,
  { source, ...input }: ApprovalInput,
): Promise<ApprovedPlan> {
  const { sha256, bytes } = await hashFile(source);
  const path = relative(dirname(file), source).split(sep).join('/');
  const content = contentSchema.parse({
    cqplan: 1,
    manifest: { path, sha256, bytes },
    ...input,
    made_at: new Date().toISOString(),
    made_by: attributed().by,
  });
  const plan = { ...content, sha256: digestOf(content), approvals: [] };
  if (await onDisk(file, () => createFile(file, planFileText(plan)))) return { ...plan, file, source };
  throw usageError(
    'PLAN_EXISTS',
    `${escapeInvisible(file)} already exists: remove it, or choose another name.`,
  );
}

/** Writes the approvals of a plan into its file. */
export async function writeApprovals(
  plan: ApprovedPlan,
  approvals: readonly Envelope[],
): Promise<ApprovedPlan> {
  const approved = { ...plan, approvals };
  await writeFileAtomically(plan.file, planFileText(approved));
  return approved;
}

/** The text of a plan's file. */
export function planFileText(plan: PlanDocument): string {
  const { sha256, approvals } = plan;
  const signed = { ...contentSchema.parse(plan), sha256, ...(approvals.length > 0 && { approvals }) };
  return `${printableJson(JSON.stringify(signed, null, 2))}\n`;
}

/**
 * Reads a plan and finds its manifest: at the path relative to the plan, or beside the plan.
 *
 * @param source path of the manifest, where it is known
 * @throws a usage error `PLAN_NOT_FOUND`, `PLAN_UNREADABLE`, `PLAN_CHANGED`, `MANIFEST_NOT_FOUND` or `MANIFEST_CHANGED`.
 */
export async function readApprovedPlan(file: string, source?: string): Promise<ApprovedPlan> {
  const text = await ifThere(readSmallFile(file)).catch((error: Error) => {
    throw systemError(error, file) ?? unreadable(file, `can't be read: ${error.message}`, error);
  });
  if (text === undefined)
    throw usageError('PLAN_NOT_FOUND', `${escapeInvisible(file)}: there is no such file`);
  const plan = parsePlan(text, file);
  const { path, sha256 } = plan.manifest;
  const manifest = source ?? (await findManifest(file, path));
  const found = await hashFile(manifest);
  if (found.sha256 !== sha256) {
    throw usageError(
      'MANIFEST_CHANGED',
      `${escapeInvisible(manifest)} is not the manifest that was signed off in ${escapeInvisible(file)} (SHA-256 ${found.sha256}, ` +
        `expected ${sha256}): restore that one, or make the plan again and have it reviewed.`,
    );
  }
  return { ...plan, file, source: manifest };
}

/**
 * Reads the text of a plan's file. Nothing is said about its approvals.
 *
 * @param file its name in messages
 * @throws a usage error `PLAN_UNREADABLE` or `PLAN_CHANGED`
 */
export function parsePlan(text: string, file: string): PlanDocument {
  const { sha256, approvals = [], ...said } = parseSigned(text, file);
  const { data, error } = contentSchema.safeParse(said);
  if (error !== undefined) {
    const [{ path = [], message } = { message: '' }] = error.issues;
    throw unreadable(file, `is not a plan of this version of cqbatch (${path.join('.')}: ${message})`);
  }
  if (digestOf(said) !== sha256) {
    throw usageError(
      'PLAN_CHANGED',
      `${escapeInvisible(file)} was changed after "cqbatch plan --out" wrote it, so it is not what was signed off: make the plan ` +
        'again and have it reviewed.',
    );
  }
  return { ...data, sha256, approvals };
}

const signedSchema = z.looseObject({
  sha256: z.string(),
  approvals: z.array(envelopeSchema).exactOptional(),
});

function parseSigned(text: string, file: string): z.infer<typeof signedSchema> {
  try {
    return signedSchema.parse(JSON.parse(text));
  } catch (error) {
    throw unreadable(file, 'is not a plan', error);
  }
}

function unreadable(file: string, why: string, cause?: unknown) {
  return usageError(
    'PLAN_UNREADABLE',
    `${escapeInvisible(file)} ${why}: make one with "cqbatch plan MANIFEST --out NAME${planSuffix}".`,
    cause,
  );
}

async function findManifest(file: string, path: string): Promise<string> {
  const folder = dirname(file);
  for (const place of [isAbsolute(path) ? path : join(folder, path), join(folder, basename(path))]) {
    const found = await stat(place).catch(() => undefined);
    if (found?.isFile()) return place;
  }
  throw usageError(
    'MANIFEST_NOT_FOUND',
    `The manifest of ${escapeInvisible(file)} is missing: put ${escapeInvisible(basename(path))} into the same folder.`,
  );
}

/** The keys always have this order; the layout of the file does not matter. */
function digestOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
