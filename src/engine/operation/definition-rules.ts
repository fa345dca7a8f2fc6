import { types } from 'node:util';
import { z } from 'zod';
import { usageError } from '../../base/errors/errors.ts';
import { nearestName } from '../../base/text/near-name.ts';
import { resultColumns } from '../../domain/row-result.ts';
import { mayCarryToken } from './header-rules.ts';

const wordPattern = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const functionSchema = z
  .custom((value) => typeof value === 'function', 'must be a function')
  .refine((value) => !types.isAsyncFunction(value), 'must not be async: what it returns is needed at once');

const isReservedName = (name: string): boolean => name === 'operation' || name.startsWith('old_');

const reportColumns: readonly string[] = resultColumns.map(([column]) => column);

const noExpectation = "must be 'time' or a list of values";

const fieldSchema = z.strictObject({
  type: z.enum(['integer', 'identifier', 'text', 'json']),
  min: z.literal([0, 1]).optional(),
  required: z.boolean().optional(),
  undoable: z.boolean().optional(),
  expects: z.union([z.literal('time'), z.tuple([z.string()], z.string())], noExpectation).optional(),
  option: z
    .string()
    .regex(/^<.+>$/, 'must be in angle brackets, such as <id>')
    .optional(),
});

const nameSchema = (example: string) =>
  z.string().regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, `must be words with hyphens, such as ${example}`);

const permissionSchema = z
  .string()
  .regex(/^[!-~]{1,100}$/, 'must be a name without blanks, such as CALLS_EDIT')
  .optional();

const columnsSchema = z.record(z.string().regex(wordPattern, 'must be in snake_case'), functionSchema);

const memberSchema = z.string().regex(wordPattern, 'must be the name of a member, in snake_case');

const doneSchema = z.strictObject({
  name: nameSchema('calls'),
  request: functionSchema,
  one: functionSchema,
  differs: functionSchema,
});

const listSchema = z.strictObject({
  name: nameSchema('deleted-calls'),
  request: functionSchema,
  entries: memberSchema,
  next: memberSchema.optional(),
  read: functionSchema.optional(),
  fields: z.array(z.string()),
  columns: columnsSchema,
  unfit: functionSchema.optional(),
  absent: z.string().min(1).optional(),
  computed: z.array(z.string()).optional(),
  permission: permissionSchema,
  done: doneSchema.optional(),
});

const definitionSchema = z
  .strictObject({
    name: nameSchema('archive-call'),
    thing: z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be one lowercase word, such as call'),
    done: z.string().min(1).optional(),
    summary: z.string().min(1),
    fields: z.record(z.string().regex(wordPattern, 'must be in snake_case'), fieldSchema),
    subject: z.string(),
    check: functionSchema.optional(),
    request: functionSchema,
    interpret: functionSchema,
    columns: columnsSchema,
    repeatable: z.boolean(),
    idempotencyKey: z
      .union([z.boolean(), functionSchema], 'must be true, or a function of the row')
      .optional(),
    auth: z
      .union(
        [
          z.enum(['bearer', 'basic', 'none']),
          z.strictObject({ header: z.string().refine((name) => mayCarryToken(name)) }),
        ],
        "must be 'bearer', 'basic', 'none', or { header: 'X-Api-Key' }",
      )
      .optional(),
    mayReset: z.boolean().optional(),
    permission: permissionSchema,
    meansAlreadyApplied: functionSchema.optional(),
    meansDone: functionSchema.optional(),
    list: listSchema.optional(),
  })
  .check(({ value: { fields, subject, columns, repeatable, idempotencyKey, list }, issues }) => {
    const refuse = (path: string[], message: string): void =>
      void issues.push({ code: 'custom', path, message, input: undefined });
    if (fields[subject]?.required !== true) refuse(['subject'], 'must be a field with required: true');
    if (fields[subject]?.type === 'json') refuse(['subject'], 'must be a field of another type than json');
    if (idempotencyKey && !repeatable)
      refuse(['repeatable'], 'must be true with idempotencyKey: the API processes a repeated call once');
    for (const name of Object.keys(fields).filter(isReservedName))
      refuse(['fields', name], 'is a reserved name');
    for (const name of Object.keys(columns).filter((column) => reportColumns.includes(column)))
      refuse(['columns', name], 'is a column of every report');
    if (list === undefined) return;
    const unknownField = list.fields.find((name) => fields[name] === undefined);
    if (unknownField !== undefined) refuse(['list', 'fields'], `names ${unknownField}, which is not a field`);
    if (!list.fields.includes(subject)) refuse(['list', 'fields'], `must have the subject, ${subject}`);
    const unlistedField = list.computed?.find((name) => name === subject || !list.fields.includes(name));
    if (unlistedField !== undefined)
      refuse(['list', 'computed'], `names ${unlistedField}, which is not another one of its fields`);
    for (const name of Object.keys(list.columns).filter(
      (column) => column in fields || isReservedName(column),
    ))
      refuse(['list', 'columns', name], 'is the name of a field, or reserved');
  });

/** Checks an operation's definition. @throws a usage error `OPERATION_INVALID` that names the operation and the invalid member */
export function requireValid(definition: { readonly name?: unknown }): void {
  // The schema is `jitless`, because compiling it would take longer than its only use.
  const { error } = definitionSchema.safeParse(definition, { jitless: true });
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return;
  const name = typeof definition.name === 'string' ? definition.name : 'an operation';
  if (issue.code === 'unrecognized_keys') {
    const members = Object.keys(shapeAt(issue.path));
    const [unknown = ''] = issue.keys;
    const place = [name, issue.path.join('.')].filter((part) => part !== '').join(': ');
    throw usageError('OPERATION_INVALID', `${place}: ${unknownMember(unknown, members)}`);
  }
  throw usageError('OPERATION_INVALID', `${name}: ${issue.path.join('.')}: ${issue.message}`);
}

function shapeAt([member, inside]: readonly PropertyKey[]): object {
  if (member === undefined) return definitionSchema.shape;
  if (member !== 'list') return fieldSchema.shape;
  return inside === 'done' ? doneSchema.shape : listSchema.shape;
}

export function unknownMember(member: string, members: readonly string[]): string {
  const nearest = nearestName(member, members);
  const remedy = nearest === undefined ? `these exist: ${members.join(', ')}` : `did you mean ${nearest}?`;
  return `there is no member ${JSON.stringify(member)}; ${remedy}`;
}
