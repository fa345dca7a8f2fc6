import { z } from 'zod';
import { usageError } from '../errors.ts';

/** What an operation must be for manifests, options and reports to name it and what it has. */

const word = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const aFunction = z.custom((value) => typeof value === 'function', 'must be a function');

/** Names that columns of a manifest have already. */
const isTaken = (name: string): boolean => name === 'operation' || name.startsWith('old_');

/** What each report says of a row, without the leading `_`. */
const reported = [
  ...['row', 'operation', 'outcome', 'code', 'message', 'http_status', 'attempts', 'unclear'],
  ...['started_at', 'finished_at', 'duration_ms'],
];

const fieldSchema = z.strictObject({
  type: z.enum(['integer', 'identifier', 'text']),
  min: z.literal([0, 1]).optional(),
  required: z.boolean().optional(),
  undoable: z.boolean().optional(),
  option: z
    .string()
    .regex(/^<.+>$/, 'must stand in angle brackets, such as <id>')
    .optional(),
});

const definitionSchema = z
  .object({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, 'must be words with hyphens, such as archive-call'),
    thing: z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be one word in small letters, such as call'),
    summary: z.string().min(1),
    fields: z.record(z.string().regex(word, 'must be in snake_case'), fieldSchema),
    subject: z.string(),
    check: aFunction.optional(),
    request: aFunction,
    interpret: aFunction,
    columns: z.record(z.string().regex(word, 'must be in snake_case'), aFunction),
    repeatable: z.boolean(),
    keepsOmitted: z.boolean().optional(),
    meansAlreadyApplied: aFunction.optional(),
  })
  .check(({ value: { fields, subject, columns }, issues }) => {
    const refuse = (path: string[], message: string): void =>
      void issues.push({ code: 'custom', path, message, input: undefined });
    if (fields[subject]?.required !== true) refuse(['subject'], 'must be a field with required: true');
    for (const name of Object.keys(fields).filter(isTaken))
      refuse(['fields', name], 'is a name with a meaning of its own');
    for (const name of Object.keys(columns).filter((column) => reported.includes(column)))
      refuse(['columns', name], 'is a column of every report');
  });

/** @throws a usage error `OPERATION_INVALID` */
export function requireValid(definition: { readonly name?: unknown }): void {
  const { error } = definitionSchema.safeParse(definition);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return;
  const name = typeof definition.name === 'string' ? definition.name : 'an operation';
  throw usageError('OPERATION_INVALID', `${name}: ${issue.path.join('.')}: ${issue.message}`);
}
