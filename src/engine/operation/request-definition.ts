import { stringifyJson } from '../../base/text/json.ts';
import { type Method, methods } from '../../domain/terms.ts';
import type { ApiRequest } from '../api/request.ts';
import { unknownMember } from './definition-rules.ts';

/** A request, as an operation defines it. */
export interface RequestDefinition {
  /** Default: POST. */
  readonly method?: Method;
  /** Below the base URL; begins with `/`. Values from a row need `encodeURIComponent`. */
  readonly path: string;
  /** Encoded by the engine. Undefined values are omitted. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Besides those that the client sends, such as `If-Match`. Undefined values are omitted. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** JSON text, sent unchanged, or a value to serialize as JSON, in which a bigint is an exact number. Absent: no body. */
  readonly body?: string | Readonly<Record<string, unknown>>;
}

const requestMembers = ['method', 'path', 'query', 'headers', 'body'];

/** @throws a RangeError or TypeError that names what can't be sent */
export function requestOf(definition: RequestDefinition): ApiRequest {
  const unknown = Object.keys(definition).find((member) => !requestMembers.includes(member));
  if (unknown !== undefined) throw new TypeError(unknownMember(unknown, requestMembers));
  const { method = 'POST', path, query = {}, headers = {}, body = '' } = definition;
  if (!methods.includes(method)) throw new RangeError(`the method must be one of ${methods.join(', ')}`);
  requirePath(path);
  const parameters = given(query);
  const behind = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`;
  const text = typeof body === 'string' ? body : stringifyJson(body);
  const fields = given(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const request = {
    ...(method !== 'POST' && { method }),
    path: path + behind,
    ...(fields.length > 0 && { headers: Object.fromEntries(fields) }),
    body: text,
  };
  requireHeaders(request);
  return request;
}

function given(values: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
}

/** @throws a RangeError for a request of which a server would read another path or other headers */
export function requireSendable(request: ApiRequest): void {
  requirePath(request.path);
  const { [keyHeader]: key, ...headers } = request.headers ?? {};
  requireHeaders({ headers });
  if (key !== undefined) requireValue(keyHeader, key);
}

function requirePath(path: string): void {
  if (!/^\/[!"$-~]*$/.test(path))
    throw new RangeError(
      `the path ${JSON.stringify(path)} must begin with / and be encoded (encodeURIComponent)`,
    );
  if (leadsElsewhere(path))
    throw new RangeError(
      `the path ${JSON.stringify(path)} must not have ".", ".." or nothing between its slashes: servers and proxies would take it for ` +
        'another path. Correct the value in it',
    );
}

/** Dot segments (RFC 3986, 5.2.4) in any encoding, or empty segments, which servers merge. */
function leadsElsewhere(path: string): boolean {
  // Most paths have neither, and a search is faster than splitting them.
  if (!/\/\/|\.|%2e/i.test(path)) return false;
  const [way = ''] = path.split('?');
  return (
    /\/\//.test(way) || way.split(/[/\\]|%2f|%5c/i).some((part) => /^(?:\.|%2e){1,2}(?:;|$)/i.test(part))
  );
}

/** Set by the client or HTTP itself, or giving a request another target, user or end. */
const ownHeaders = new RegExp(
  `^(?:${[
    'accept-encoding|authorization|connection|content-(?:encoding|length)|cookie|expect|host|keep-alive|proxy-.*',
    'te|traceparent|trailer|transfer-encoding|upgrade|user-agent',
  ].join('|')})$`,
);

/** RFC 9110, sections 5.1 and 5.5, without the obsolete bytes above 127. */
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const headerValue = /^[!-~](?:[\t -~]{0,8190}[!-~])?$/;

function requireHeaders({ headers = {} }: Pick<ApiRequest, 'headers'>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) throw new RangeError(`${JSON.stringify(name)} can't be the name of a header`);
    if (name === keyHeader)
      throw new RangeError(
        'an operation sends Idempotency-Key by its member idempotencyKey: true, or (row) => the key',
      );
    if (ownHeaders.test(name))
      throw new RangeError(`the client sets the header ${name} itself: leave it out`);
    requireValue(name, value);
  }
}

function requireValue(name: string, value: unknown): void {
  if (typeof value !== 'string' || !headerValue.test(value))
    throw new RangeError(
      `the header ${name} can't have the value ${JSON.stringify(value)}: it must be visible ASCII characters, with blanks between them`,
    );
}

export const keyHeader = 'idempotency-key';

/** @throws a RangeError for a key that a header can't have */
export function withKey(request: ApiRequest, key: string): ApiRequest {
  requireValue(keyHeader, key);
  return { ...request, headers: { ...request.headers, [keyHeader]: key } };
}

export function headerLines({ headers = {} }: Pick<ApiRequest, 'headers'>): readonly string[] {
  return Object.entries(headers).map((field) => field.join(': '));
}
