import { z } from 'zod';
import { hasUnseen, isBlank, trimBlanks } from '../../base/text/blank.ts';
import { composed } from '../../base/text/composed.ts';
import { isJsonObject, isLosslessNumber, parseJson, stringifyJson } from '../../base/text/json.ts';
import { footerProblem, isFooter } from '../../base/text/no-value.ts';
import { int64Text, maxInt64 } from '../api/int64.ts';
import { type Expectation, type ExpectedValues, expectationOf } from './expected-values.ts';

export interface FieldDefinition {
  /**
   * The type of the values. `integer`: 64 bits, as decimal text. `identifier`: not empty, without blanks around it and invisible
   * characters. `text`: unchanged. `json`: a list or an object; text in a manifest is its JSON text.
   */
  readonly type: 'integer' | 'identifier' | 'text' | 'json';
  /** The least value of an integer. Default: 0. */
  readonly min?: 0 | 1;
  /** Whether each row must have the field. Default: false; the service might reset an omitted field (interface document, section 4.2). */
  readonly required?: boolean;
  /** Whether rows may give the former value in `old_<name>`, for an undo. Default: false. */
  readonly undoable?: boolean;
  /**
   * The values that the API most likely reads: `time` for RFC 3339, or a list of values. The plan warns of other values, which are sent
   * unless `--strict` refuses their rows. Default: any value.
   */
  readonly expects?: ExpectedValues;
  /**
   * Gives the field its own option, short for `--default name=value`, with the value as help writes it: `<id>`. Has no effect in a module
   * of `--operations`, which is loaded after the options are read.
   */
  readonly option?: string;
}

export type FieldDefinitions = Readonly<Record<string, FieldDefinition>>;

/**
 * The values of a row. Optional fields may be absent, and integers are decimal text. Integers in lists and objects are `bigint`s where a
 * number would round them.
 */
export type RowOf<Fields extends FieldDefinitions> = {
  readonly [Name in keyof Fields as Fields[Name]['required'] extends true ? Name : never]: ValueOf<
    Fields[Name]
  >;
} & {
  readonly [Name in keyof Fields as Fields[Name]['required'] extends true ? never : Name]?: ValueOf<
    Fields[Name]
  >;
};

type ValueOf<Definition extends FieldDefinition> = Definition['type'] extends 'json'
  ? readonly unknown[] | Readonly<Record<string, unknown>>
  : string;

export type Row = Readonly<Record<string, string>>;

export interface Field extends Required<Pick<FieldDefinition, 'type' | 'required' | 'undoable'>> {
  /** The name of the field in the API, in snake_case. Headers of columns match it as `fieldNameOf` says. */
  readonly name: string;
  readonly option: FieldDefinition['option'] | undefined;
  readonly expectation: Expectation | undefined;
  readonly accepts: (value: unknown) => boolean;
}

export function fieldsOf(definitions: FieldDefinitions): readonly Field[] {
  return Object.entries(definitions).map(([name, definition]) => {
    const { type, required = false, undoable = false, expects, option } = definition;
    const schema = typeOf(definition);
    const accepts = (value: unknown): boolean => schema.safeParse(value).success;
    const expectation = expects && expectationOf(expects);
    return { name, type, required, undoable, option, expectation, accepts };
  });
}

/**
 * @param subject the field for which each row needs its own value: a default does not count
 * @param check undefined for a row without a problem
 */
export function rowSchemaOf(
  definitions: FieldDefinitions,
  subject: string,
  check: (row: Row) => string | undefined = () => undefined,
): z.ZodType<Row> {
  const shape = Object.entries(definitions).map(([name, definition]) => {
    const isOptional = definition.required !== true;
    const missing =
      name === subject
        ? `missing; every row needs the column ${name}`
        : `missing; add a column ${name}, or pass --default ${name}=VALUE for all rows`;
    return [name, isOptional ? typeOf(definition).optional() : typeOf(definition, missing)] as const;
  });
  return z.object(Object.fromEntries(shape)).check((context) => {
    const message = check(context.value as Row);
    if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value });
  }) as unknown as z.ZodType<Row>;
}

/** Returns a function that gives the functions of an operation a row in which each list and object is a value, not text. */
export function rowReader(definitions: FieldDefinitions): (row: Row) => Readonly<Record<string, unknown>> {
  const names = Object.keys(definitions).filter((name) => definitions[name]?.type === 'json');
  if (names.length === 0) return (row) => row;
  return (row) => {
    const read = names.flatMap((name) => {
      const text = row[name];
      return text === undefined ? [] : [[name, parseJson(text)] as const];
    });
    return { ...row, ...Object.fromEntries(read) };
  };
}

function typeOf({ type, min = 0 }: FieldDefinition, missing?: string): z.ZodType<string> {
  if (type === 'json') return jsonField(missing);
  return type === 'integer' ? integerField(min, missing) : textField(type === 'identifier', missing);
}

/**
 * The schema of an integer: 64 bits, as decimal text (CSV) or an exact JSON number. Other forms that spreadsheets give long numbers are
 * errors: digits may be lost.
 */
function integerField(min: 0 | 1, missing: string | undefined): z.ZodType<string> {
  return z.transform((value: unknown, context) => {
    const text = int64Text(typeof value === 'string' ? trimBlanks(value) : value, min);
    if (text !== undefined) return text;
    context.issues.push({ code: 'custom', message: integerProblem(value, min, missing), input: value });
    return z.NEVER;
  });
}

/** The schema of a list or an object, which becomes compact JSON text, so that equal values are equal texts. */
function jsonField(missing: string | undefined): z.ZodType<string> {
  return z.transform((value: unknown, context) => {
    const text = isLeftOut(value) ? undefined : jsonText(value);
    if (text !== undefined) return text;
    const message =
      isLeftOut(value) && missing !== undefined
        ? missing
        : 'must be a list or an object: in a cell its JSON text, such as ["a","b"] or {"a":1}';
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });
}

function jsonText(value: unknown): string | undefined {
  try {
    const read = typeof value === 'string' ? parseJson(value) : value;
    return Array.isArray(read) || isJsonObject(read) ? stringifyJson(read) : undefined;
  } catch {
    return undefined;
  }
}

function textField(isIdentifier: boolean, missing: string | undefined): z.ZodType<string> {
  return z.transform((value: unknown, context) => {
    if (typeof value === 'string' && isSheetError(value)) {
      context.issues.push({ code: 'custom', message: sheetErrorProblem, input: value });
      return z.NEVER;
    }
    if (typeof value === 'string' && !isIdentifier) return value;
    const text = typeof value === 'string' ? trimBlanks(value) : '';
    if (text !== '' && !hasUnseen(text) && mangledTextProblem(text) === undefined) return text;
    const message =
      text === '' ? textProblem(value, missing) : (mangledTextProblem(text) ?? unseenCharacterProblem);
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });
}

function integerProblem(value: unknown, min: 0 | 1, missing: string | undefined): string {
  const range = `a whole number from ${min} to ${maxInt64}`;
  if (isLeftOut(value) && missing !== undefined) return missing;
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return `may have lost digits as a JavaScript number; give ${range} as text or bigint`;
  }
  const text = numberText(value);
  if (text === '') return `cannot be empty or cleared; must be ${range}`;
  const mangled = mangledTextProblem(text) ?? mangledNumberProblem(text);
  if (mangled !== undefined) return mangled;
  if (isFooter(text)) return footerProblem;
  return /^-?\d+$/.test(text) ? `out of range; must be ${range}` : `must be ${range}, in digits only`;
}

function numberText(value: unknown): string {
  if (typeof value === 'string') return trimBlanks(value);
  return isLosslessNumber(value)
    ? value.toString()
    : String(typeof value === 'object' ? typeof value : value);
}

const sheetErrorProblem = 'is a spreadsheet error, or the column was too narrow; fix it and export again';

const scientificProblem =
  'is in scientific notation, so digits may be lost; format the column as text in the spreadsheet, enter the numbers again and export again';

type SpreadsheetForm = readonly [form: RegExp, problem: string];

/** What spreadsheets make of identifiers: of numbers, and of users whose names look like numbers. */
const formsOfText: readonly SpreadsheetForm[] = [
  [/^-?\d+(?:[.,]\d+)?e[+-]\d+$/i, scientificProblem],
  [/^(?:'\d+|="?'?\d+"?)$/, "has a spreadsheet's text mark; write only the digits"],
];

const formsOfNumbers: readonly SpreadsheetForm[] = [
  [/^-?\d+(?:[.,]\d+)?e\d+$/i, scientificProblem],
  [
    /^-?\d{1,3}(?:[,.'’\s_]\d{3})+$/,
    'has separators between its digits; format the column as text and write digits only',
  ],
  [
    /^-?\d+[.,]\d+$/,
    'has decimals, so digits may be lost; format the column as text, write whole numbers and export again',
  ],
  [/^#/, sheetErrorProblem],
];

function mangledTextProblem(text: string): string | undefined {
  return formsOfText.find(([form]) => form.test(text))?.[1];
}

function mangledNumberProblem(text: string): string | undefined {
  return formsOfNumbers.find(([form]) => form.test(text))?.[1];
}

/** Error values of spreadsheets in many languages, and the signs in a column that is too narrow. */
const sheetErrors = new RegExp(
  `^\\s*(?:#{3,}|#N/?[ADVB]|#GETTING_DATA|Err:\\d{3}|#[¡¿]?(?:${[
    'REF|VALUE|DIV/0|NAME|NULL|NUM|SPILL|CALC|FIELD|BLOCKED|CONNECT|BUSY|UNKNOWN|PYTHON|EXTERNAL|ERROR',
    'BEZUG|WERT|ZAHL|ÜBERLAUF|VALEUR|NOM|NOMBRE|NUL|VALOR|NULO|RIF|VALORE|NOME|NULLO|NÚM',
    'VERW|WAARDE|NAAM|GETAL|LEEG|ADR|ARG|NAZWA|LICZBA',
  ].join('|')})[!?])\\s*$`,
);

function isSheetError(text: string): boolean {
  // A search for `#` or `Err:` is faster than the pattern.
  return (text.includes('#') || text.includes('Err:')) && sheetErrors.test(composed(text));
}

const unseenCharacterProblem = 'has a character inside that you cannot see; type the identifier again';

function textProblem(value: unknown, missing: string | undefined): string {
  if (isLeftOut(value)) return missing ?? 'must be text';
  return 'must be text; in JSON write it in quotes';
}

export function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && isBlank(value));
}
