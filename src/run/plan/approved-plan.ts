import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { z } from 'zod';
import { actorSchema, attributed } from '../../actor.ts';
import { exists, ifThere, readSmallFile, writeFileAtomically } from '../../disk/files.ts';
import { usageError } from '../../errors.ts';
import type { RowCounts } from '../../manifest/check/row-counts.ts';
import { hashFile } from '../../manifest/stage.ts';
import { systemError } from '../../system-error.ts';
import { escapeInvisible, printableJson } from '../../text/printable.ts';
import { runOptionsSchema } from '../record/record.ts';

/** Suffix of files with a signed-off plan. */
export const planSuffix = '.cqplan';

const approvalSchema = z.object({
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
  approved_by: z.string().exactOptional(),
});

type Approval = Readonly<z.infer<typeof approvalSchema>>;

/** A signed-off plan: it defines a run, to the byte. */
export interface ApprovedPlan extends Approval {
  /** The file of the plan. */
  readonly file: string;
  /** Path of the manifest. */
  readonly source: string;
  /** SHA-256 of the plan's content, in hexadecimal. It reveals a change, but not the author. */
  readonly sha256: string;
}

/** The content of a plan. */
export interface ApprovalInput extends Pick<Approval, 'options' | 'skip_invalid' | 'allow_partial'> {
  /** Path of the manifest. */
  readonly source: string;
  readonly counts: RowCounts;
  readonly approvedBy?: string | undefined;
}

/**
 * Writes a plan that can be carried out later and elsewhere.
 *
 * @throws a usage error `PLAN_EXISTS` when the file exists: a signed-off plan is never replaced.
 */
export async function writeApprovedPlan(
  file: string,
  { source, approvedBy, ...input }: ApprovalInput,
): Promise<ApprovedPlan> {
  if (await exists(file)) {
    throw usageError(
      'PLAN_EXISTS',
      `${escapeInvisible(file)} already exists: remove it, or choose another name.`,
    );
  }
  const { sha256, bytes } = await hashFile(source);
  const path = relative(dirname(file), source).split(sep).join('/');
  const approval = approvalSchema.parse({
    cqplan: 1,
    manifest: { path, sha256, bytes },
    ...input,
    made_at: new Date().toISOString(),
    made_by: attributed().by,
    ...(approvedBy !== undefined && { approved_by: approvedBy }),
  });
  const signed = { ...approval, sha256: digestOf(approval) };
  await writeFileAtomically(file, `${printableJson(JSON.stringify(signed, null, 2))}\n`);
  return { ...signed, file, source };
}

/**
 * Reads a plan and finds its manifest: at the path relative to the plan, or beside the plan.
 *
 * @throws a usage error `PLAN_NOT_FOUND`, `PLAN_UNREADABLE`, `PLAN_CHANGED`, `MANIFEST_NOT_FOUND` or `MANIFEST_CHANGED`.
 */
export async function readApprovedPlan(file: string): Promise<ApprovedPlan> {
  const { sha256, ...said } = await readSigned(file);
  const { success, data } = approvalSchema.safeParse(said);
  if (!success) throw unreadable(file, 'is not a plan of this version of cqbatch');
  if (digestOf(said) !== sha256) {
    throw usageError(
      'PLAN_CHANGED',
      `${escapeInvisible(file)} was changed after "cqbatch plan --out" wrote it, so it is not what was signed off: make the plan ` +
        'again and have it reviewed.',
    );
  }
  const source = await findManifest(file, data.manifest.path);
  const found = await hashFile(source);
  if (found.sha256 !== data.manifest.sha256) {
    throw usageError(
      'MANIFEST_CHANGED',
      `${escapeInvisible(source)} is not the manifest that was signed off in ${escapeInvisible(file)} (SHA-256 ${found.sha256}, ` +
        `expected ${data.manifest.sha256}): restore that one, or make the plan again and have it reviewed.`,
    );
  }
  return { ...data, sha256, file, source };
}

async function readSigned(file: string): Promise<{ readonly sha256: string }> {
  const text = await ifThere(readSmallFile(file)).catch((error: Error) => {
    throw systemError(error, file) ?? unreadable(file, `can't be read: ${error.message}`, error);
  });
  if (text === undefined)
    throw usageError('PLAN_NOT_FOUND', `${escapeInvisible(file)}: there is no such file`);
  try {
    return z.looseObject({ sha256: z.string() }).parse(JSON.parse(text));
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
function digestOf(approval: object): string {
  return createHash('sha256').update(JSON.stringify(approval)).digest('hex');
}
