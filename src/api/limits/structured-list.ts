import { type AnswerHeaders, headerValues } from '../headers.ts';

/** An item of a list field with its parameters. */
export interface ListItem {
  /** A string without its quotes and escapes, or the text of a token or an integer. */
  readonly value: string;
  readonly kind: 'name' | 'integer';
  /** Text of every parameter by its key, strings without quotes; empty for a parameter without a value. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * The items of a list field whose items are strings, tokens or integers (RFC 9651, section 3.1), at most `maxItems`;
 * spaces before a parameter are tolerated. None when any of it is malformed (section 4.2) or it is absurdly long.
 */
export function structuredList(headers: AnswerHeaders, name: string): readonly ListItem[] {
  if (headers[name] === undefined) return [];
  const text = headerValues(headers, name).join(',').trim();
  // Not cut: a number that is cut is another number.
  if (text.length > maxLength) return [];
  const items: ListItem[] = [];
  listItem.lastIndex = 0;
  while (listItem.lastIndex < text.length) {
    const match = listItem.exec(text);
    if (match === null) return [];
    const [, value = '', parameters = ''] = match;
    if (items.length === maxItems) continue;
    const kind = /^\d/.test(value) ? 'integer' : 'name';
    items.push({ value: bare(value), kind, parameters: parametersIn(parameters) });
  }
  return items;
}

/** Most characters of a list that is read. */
const maxLength = 4096;

/** Most items of a list that are read. */
const maxItems = 20;

const string = String.raw`"(?:[ !#-\[\]-~]|\\["\\])*"`;
const key = String.raw`[a-z*][\w.*-]*`;
const value = String.raw`(?:${string}|[!#-+\--:<-~]*)`;
const token = String.raw`[A-Za-z*][!#-+\--:<>-~]*`;
const eachParameter = new RegExp(String.raw`;\s*(${key})(?:=(${value}))?`, 'g');
const listItem = new RegExp(
  String.raw`\s*(${string}|${token}|\d{1,15})((?:\s*;\s*${key}(?:=${value})?)*)\s*(?:,|$)`,
  'y',
);

function parametersIn(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, key = '', value = ''] of text.matchAll(eachParameter)) parameters.set(key, bare(value));
  return parameters;
}

function bare(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : value;
}
