import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { z } from 'zod';
import { createFile } from '../../../../base/disk/files.ts';
import { type CqbatchError, usageError } from '../../../../base/errors/errors.ts';
import { onDisk } from '../../../../base/errors/system-error.ts';
import { escapeInvisible } from '../../../../base/text/printable.ts';
import { parseBaseUrl } from '../../../api/base-url.ts';
import type { RowsHead } from '../../../rows/head.ts';
import type { WrittenRows } from '../../../rows/rows-writer.ts';
import { type RunOptions, runOptionsSchema } from '../../record/record.ts';

/** A plan is a file of rows, compressed with gzip. */
export const planSuffix = '.cqplan';

/** Defines a run, to the byte, to be reviewed, and carried out here or elsewhere. */
export interface PlanFile {
  readonly file: string;
  /** The SHA-256 of the file, as `sha256sum` prints it. */
  readonly sha256: string;
  readonly head: RowsHead;
  readonly options: RunOptions;
  /** The permits that the user gave when the plan was made. */
  readonly consent: NonNullable<RowsHead['consent']>;
}

/**
 * @param path of the file of rows
 * @throws a usage error `PLAN_EXISTS`: a plan is never replaced
 */
export async function writePlanFile(
  file: string,
  path: string,
  { head }: Pick<WrittenRows, 'head'>,
): Promise<PlanFile> {
  const content = optionsAndConsentOf(file, head);
  const hash = createHash('sha256');
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const compressed = pipeline(createReadStream(path), gzip, () => {});
  if (await onDisk(file, () => createFile(file, passedToDigest(compressed, hash))))
    return { ...content, file, sha256: hash.digest('hex'), head };
  throw usageError(
    'PLAN_EXISTS',
    `${escapeInvisible(file)} already exists: remove it, or choose another name.`,
  );
}

/** Passes bytes on, and adds them to a digest. */
export async function* passedToDigest(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

const strictOptions = z.strictObject(runOptionsSchema.shape);

/**
 * The options and the consent of a plan.
 *
 * @throws a usage error `PLAN_UNREADABLE`
 */
export function optionsAndConsentOf(
  file: string,
  { options, consent }: RowsHead,
): Pick<PlanFile, 'options' | 'consent'> {
  const { data, error } = strictOptions.safeParse(options);
  if (error !== undefined) {
    const [{ path = [], message } = { message: '' }] = error.issues;
    throw unreadablePlanError(
      file,
      `has an option that this version of cqbatch does not know (${path.join('.')}: ${message})`,
    );
  }
  if (consent === undefined) throw unreadablePlanError(file, 'does not say what was accepted');
  if (!hasNormalizedAddress(data))
    throw unreadablePlanError(file, 'has an address that is not written as cqbatch writes it');
  return { options: data, consent };
}

function hasNormalizedAddress({ baseUrl, allowInsecureHttp }: RunOptions): boolean {
  try {
    return parseBaseUrl(baseUrl, { allowInsecureHttp }) === baseUrl;
  } catch {
    return false;
  }
}

/** @param why the end of a sentence that begins with the file */
export function unreadablePlanError(file: string, why: string, cause?: unknown): CqbatchError {
  return usageError(
    'PLAN_UNREADABLE',
    `${escapeInvisible(file)} ${why}: make one with "cqbatch plan MANIFEST --out NAME${planSuffix}".`,
    cause,
  );
}
