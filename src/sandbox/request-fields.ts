import { z } from 'zod';
import { isJsonObject } from '../base/text/json.ts';
import { fileTypes } from './enums.ts';
import { maxIdentifier } from './notation.ts';

/** In JSON a number or, as Protocol Buffers write 64 bits, a decimal string. */
const integer = z
  .union(
    [z.bigint(), z.number().refine(Number.isInteger), z.string().regex(/^\d{1,19}$/)],
    'must be an integer',
  )
  .transform((value) => BigInt(value));
export const identifier = integer.pipe(z.bigint().min(1n).max(maxIdentifier));
export const size = integer.pipe(z.bigint().min(0n).max(maxIdentifier)).nullish();
export const text = z.string().nullish();
export const texts = z.array(z.string()).nullish();
export const identifiers = z.array(identifier).nullish();
export const trueOrFalse = z.boolean().nullish();
const moment = z.iso.datetime({ offset: true, error: 'must be a time as RFC 3339 writes it' });
export const bound = moment.nullish();

const largestPage = 1000n;
export const pageSize = integer
  .nullish()
  .refine(
    (size) => size != null && size >= 1n && size <= largestPage,
    `is required, and must be from 1 to ${largestPage}`,
  )
  .transform(Number);

export interface RequestFields {
  readonly message: <Fields extends z.ZodRawShape>(
    fields: Fields,
  ) => z.ZodType<z.output<z.ZodObject<Fields>>>;
  readonly time: z.ZodType<string | null | undefined>;
  readonly fileType: z.ZodType<string | null | undefined>;
}

/** As the interface document: other names are mistakes, and any text is a time or a file type. */
export const documentFields: RequestFields = { message: z.strictObject, time: text, fileType: text };

/**
 * As Protocol Buffers read JSON: names may be in lowerCamelCase, enumerated values may be numbers, times are those of RFC 3339, and unknown
 * fields and values are dropped.
 */
export const protobufFields: RequestFields = {
  message: (fields) => z.preprocess(inSnakeCase, z.object(fields)),
  time: moment.nullish(),
  fileType: z.preprocess(fileTypeName, text.optional()).optional(),
};

function inSnakeCase(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      field,
    ]),
  );
}

function fileTypeName(value: unknown): unknown {
  if (typeof value === 'number') return fileTypes[value];
  return typeof value === 'string' && !fileTypes.some((name) => name === value) ? undefined : value;
}
