import { stringifyJson } from '../../json.ts';
import { toCamelCase } from './fields.ts';

/** How integers are written: as JSON numbers, or as decimal strings as in Protocol Buffers JSON. */
export type IntegerStyle = 'number' | 'string';

/** How keys are written: `evaluation_id` or `evaluationId`. */
export type KeyCase = 'snake' | 'camel';

export interface WireStyle {
  readonly integers: IntegerStyle;
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
    text += `${text === '' ? '{' : ','}${quotedKey(name, style.case)}:${write(value[name], style, name)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Not one of the classes with which `json.ts` keeps numbers exact. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

const quotedKeys = { snake: new Map<string, string>(), camel: new Map<string, string>() };

function quotedKey(name: string, keyCase: KeyCase): string {
  let key = quotedKeys[keyCase].get(name);
  if (key === undefined) {
    key = JSON.stringify(keyCase === 'camel' ? toCamelCase(name) : name);
    quotedKeys[keyCase].set(name, key);
  }
  return key;
}
