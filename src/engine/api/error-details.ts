import { isJsonObject } from '../../base/text/json.ts';

/** A detail of an error, as `google/rpc/error_details.proto` defines it. */
export interface ErrorDetail {
  /** The type of the detail, such as `RetryInfo`. Absent when the detail names none. */
  readonly type?: string;
  readonly fields: JsonObject;
}

type JsonObject = Readonly<Record<string, unknown>>;

const mostRead = 50;

/**
 * The details of an error, from `details` or `error.details` of a parsed body. Two spellings are known:
 *
 * - of a gateway: `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}`
 * - of Connect: `{"type":"google.rpc.RetryInfo","value":"CgIIAQ","debug":{"retryDelay":"1.5s"}}`; the binary `value` is not read.
 */
export function errorDetails(body: unknown): readonly ErrorDetail[] {
  if (!isJsonObject(body)) return [];
  const error = body['error'];
  return [...objectsIn(body['details']), ...objectsIn(isJsonObject(error) ? error['details'] : [])].map(
    (detail) => {
      const type = [detail['@type'], detail['type']].find((name) => typeof name === 'string');
      const { debug } = detail;
      return {
        ...(type && { type: type.replace(/^.*[./]/, '') }),
        fields: isJsonObject(debug) ? debug : detail,
      };
    },
  );
}

/**
 * The texts of details for people, in their order: wrong fields, unmet conditions, the service's own words, the id of the request. Leaves
 * out what the message says already.
 */
export function detailTexts(details: readonly ErrorDetail[], message: string): readonly string[] {
  const told = new Set<string>();
  const isNew = (text: string) => text !== '' && !message.toLowerCase().includes(text.toLowerCase());
  for (const { type = '', fields } of details) {
    for (const { subject, text } of detailReaders.get(type)?.(fields) ?? [])
      if (isNew(text)) told.add([subject, text].filter(Boolean).join(': '));
  }
  return [...told];
}

/** The reason that details give, such as `EVALUATION_NOT_DELETED`. */
export function reasonIn(details: readonly ErrorDetail[]): string {
  return (
    details.map(({ type, fields }) => (type === 'ErrorInfo' ? textIn(fields, 'reason') : '')).find(Boolean) ??
    ''
  );
}

export function requestIdIn(details: readonly ErrorDetail[]): string {
  return (
    details.map(({ type, fields }) => (type === 'RequestInfo' ? requestIdOf(fields) : '')).find(Boolean) ?? ''
  );
}

function requestIdOf(fields: JsonObject): string {
  return textIn(fields, 'requestId') || textIn(fields, 'request_id');
}

interface DetailText {
  readonly subject?: string;
  readonly text: string;
}

const detailReaders = new Map<string, (fields: JsonObject) => readonly DetailText[]>([
  ['BadRequest', (fields) => violations(fields['fieldViolations'] ?? fields['field_violations'], ['field'])],
  ['PreconditionFailure', (fields) => violations(fields['violations'], ['type', 'subject'])],
  ['QuotaFailure', (fields) => violations(fields['violations'], ['subject'])],
  ['LocalizedMessage', (fields) => [{ text: textIn(fields, 'message') }]],
  ['RequestInfo', (fields) => [{ subject: 'request', text: requestIdOf(fields) }]],
]);

function violations(list: unknown, about: readonly string[]): readonly DetailText[] {
  return objectsIn(list).map((violation) => {
    const subject = about
      .map((name) => textIn(violation, name))
      .filter(Boolean)
      .join(' ');
    const text = textIn(violation, 'description');
    return text === '' ? { text: subject } : { subject, text };
  });
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.slice(0, mostRead).filter(isJsonObject) : [];
}

function textIn(fields: JsonObject, name: string): string {
  const text = fields[name];
  return typeof text === 'string' ? text.trim() : '';
}
