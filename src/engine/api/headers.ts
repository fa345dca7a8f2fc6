/** The headers of an answer, by lower-case name. The value is an array when a field came more than once. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The values of a header, in the order of arrival. */
export function headerValues(headers: AnswerHeaders, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** A gateway from Protocol Buffers to JSON gives this prefix to headers of the service. */
const gatewayPrefix = 'grpc-metadata-';

/**
 * Adds the headers of a gateway without its prefix, unless the name without it is taken. Runs for every answer: without such headers it
 * must not allocate memory.
 */
export function withGatewayHeaders(headers: AnswerHeaders): AnswerHeaders {
  for (const name in headers) if (name.startsWith(gatewayPrefix)) return withoutPrefix(headers);
  return headers;
}

function withoutPrefix(headers: AnswerHeaders): AnswerHeaders {
  const forwarded = Object.entries(headers).filter(([name]) => name.startsWith(gatewayPrefix));
  return {
    ...Object.fromEntries(forwarded.map(([name, value]) => [name.slice(gatewayPrefix.length), value])),
    ...headers,
  };
}

export function firstReadable<T>(
  headers: AnswerHeaders,
  name: string,
  read: (value: string) => T | undefined,
): T | undefined {
  for (const value of headerValues(headers, name)) {
    const result = read(value);
    if (result !== undefined) return result;
  }
  return undefined;
}

/**
 * The server's time in milliseconds since 1970, by the answer's `Date` (RFC 9110, section 6.6.1), so that a wrong clock here does no harm.
 *
 * @param now for answers without a `Date`
 */
export function serverTime(headers: AnswerHeaders, now: number): number {
  return firstReadable(headers, 'date', httpDateMs) ?? now;
}

/** The milliseconds since 1970 of an HTTP date (RFC 9110, section 5.6.7), also in its two obsolete forms. */
export function httpDateMs(value: string): number | undefined {
  const text = value.trim();
  const withZone = asctimeDate.test(text) ? `${text} GMT` : text;
  if (!imfFixdate.test(withZone) && !rfc850Date.test(withZone) && withZone === text) return undefined;
  const milliseconds = Date.parse(withZone);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850Date = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

export interface ListItem {
  readonly value: string;
  readonly kind: 'name' | 'integer';
  /** The parameters by key, strings without their quotes; an empty text for a parameter without a value. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * The items of a list field of strings, tokens or integers (RFC 9651, section 3.1), at most `maxItems`; tolerates spaces before a
 * parameter. Returns no items when any part is malformed (section 4.2) or the list is absurdly long.
 */
export function structuredList(headers: AnswerHeaders, name: string): readonly ListItem[] {
  if (headers[name] === undefined) return [];
  const text = headerValues(headers, name).join(',').trim();
  // A text that is too long is not cut: a cut number would be another number.
  if (text.length > maxLength) return [];
  const items: ListItem[] = [];
  listItem.lastIndex = 0;
  while (listItem.lastIndex < text.length) {
    const match = listItem.exec(text);
    if (match === null) return [];
    const [, value = '', parameters = ''] = match;
    if (items.length === maxItems) continue;
    const kind = /^\d/.test(value) ? 'integer' : 'name';
    items.push({ value: unquoted(value), kind, parameters: parametersIn(parameters) });
  }
  return items;
}

/**
 * Those members of a dictionary field whose values are whole numbers (RFC 9651, section 3.2): `limit=100, remaining=99, reset=15`. Returns
 * none when any part is malformed.
 */
export function structuredDictionary(headers: AnswerHeaders, name: string): Readonly<Record<string, string>> {
  if (headers[name] === undefined) return {};
  const text = headerValues(headers, name).join(',').trim();
  if (text.length > maxLength || !dictionary.test(text)) return {};
  return Object.fromEntries(
    text.split(',').map((member) => member.split(/[=;]/, 2).map((part) => part.trim())),
  );
}

const maxLength = 4096;

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

const member = String.raw`\s*${key}=\d{1,15}(?:\s*;\s*${key}(?:=${value})?)*\s*`;
const dictionary = new RegExp(`^${member}(?:,${member})*$`);

function parametersIn(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, key = '', value = ''] of text.matchAll(eachParameter)) parameters.set(key, unquoted(value));
  return parameters;
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : value;
}
