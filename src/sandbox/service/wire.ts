import { stringifyJson } from '../../text/json.ts';
import { type BadRequest, badRequest } from './refusal.ts';

/** How integers are written: as JSON numbers, or as decimal strings as in Protocol Buffers JSON. */
export const integerStyles = ['number', 'string'] as const;

/** How keys are written: `evaluation_id` or `evaluationId`. */
export const keyCases = ['snake', 'camel'] as const;
type KeyCase = (typeof keyCases)[number];

export interface WireStyle {
  readonly integers: (typeof integerStyles)[number];
  readonly case: KeyCase;
}

/** Writes an answer's body as JSON in a style: in one pass, as answers are the sandbox's most frequent work. */
export function writeBody(body: object, style: WireStyle): string {
  return write(body, style, '');
}

/** The fields that the interface document calls integers (section 2). */
const integerFields = new Set([
  'evaluation_id',
  'scorecard_id',
  'call_sid',
  'transcript_sid',
  'conversation_sid',
  'evaluation_section_id',
  'section_id',
  'sort_order',
  'evaluation_question_id',
  'scorecard_question_id',
  'auto_evaluation_question_id',
  'auto_evaluation_id',
  'auto_evaluation_section_id',
  'auto_question_id',
  'flagged',
  'soundboard_id',
  'file_size',
  'recording_length',
]);

/** `field` is the snake_case name of the field that holds the value, or whose array does. */
function write(value: unknown, style: WireStyle, field: string): string {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return style.integers === 'string' && integerFields.has(field) ? `"${value}"` : String(value);
  }
  if (Array.isArray(value)) return `[${value.map((element) => write(element, style, field)).join(',')}]`;
  if (!isPlainObject(value)) return stringifyJson(value);
  let text = '';
  for (const name in value) {
    text += `${text === '' ? '{' : ','}${quotedKeys[style.case](name)}:${write(value[name], style, name)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Not one of the classes with which `json.ts` keeps numbers exact. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The fields of a request object by their snake_case name, or why it is not such an object. */
type FieldsReading = { readonly ok: true; readonly fields: ReadonlyMap<string, unknown> } | BadRequest;

/**
 * Reads an object of a request, whose keys may be in snake_case or lowerCamelCase. `null` counts as left out. Unknown
 * fields are refused, as a client that sends one has most likely misspelt it. `where` is the object's name in
 * messages.
 */
export function readFields(value: unknown, names: readonly string[], where: string): FieldsReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return badRequest(`${where} must be a JSON object`);
  }
  const fields = new Map<string, unknown>();
  for (const [key, field] of Object.entries(value)) {
    const name = names.find((candidate) => candidate === key || toCamelCase(candidate) === key);
    if (name === undefined) return badRequest(`${where} has no field ${JSON.stringify(key)}`);
    if (fields.has(name)) return badRequest(`${where} has ${name} twice`);
    fields.set(name, field);
  }
  for (const [name, field] of fields) {
    if (field === null) fields.delete(name);
  }
  return { ok: true, fields };
}

/** `deleted_at` as `deletedAt`. */
const toCamelCase = remembered((name) =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
);

const quotedKeys = {
  snake: remembered((name) => JSON.stringify(name)),
  camel: remembered((name) => JSON.stringify(toCamelCase(name))),
};

/** The same function, which does its work but once for each name; there are few. */
function remembered(write: (name: string) => string): (name: string) => string {
  const written = new Map<string, string>();
  return (name) => {
    let text = written.get(name);
    if (text === undefined) {
      text = write(name);
      written.set(name, text);
    }
    return text;
  };
}
