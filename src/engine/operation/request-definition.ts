import { stringifyJson } from '../../base/text/json.ts';
import { type Method, methods } from '../../domain/terms.ts';
import type { ApiRequest, Auth } from '../api/request.ts';
import { unknownMember } from './definition-rules.ts';
import { keyHeader, requireHeaders, requireValue } from './header-rules.ts';

/** A request, as an operation defines it. */
export interface RequestDefinition {
  /** The HTTP method. Default: POST. */
  readonly method?: Method;
  /** The path below the base URL; begins with `/`. Values from a row need `encodeURIComponent`. */
  readonly path: string;
  /** The parameters of the query, which the engine encodes. Undefined values are omitted. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Headers besides those that the client sends, such as `If-Match`. Undefined values are omitted. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** The body: JSON text, sent unchanged, or a value to serialize as JSON, in which a bigint is an exact number. Absent: no body. */
  readonly body?: string | Readonly<Record<string, unknown>>;
}

const requestMembers = ['method', 'path', 'query', 'headers', 'body'];

/** Makes the request that a definition describes. @throws a RangeError or TypeError that names what can't be sent */
export function requestOf(definition: RequestDefinition): ApiRequest {
  const unknown = Object.keys(definition).find((member) => !requestMembers.includes(member));
  if (unknown !== undefined) throw new TypeError(unknownMember(unknown, requestMembers));
  const { method = 'POST', path, query = {}, headers = {}, body = '' } = definition;
  if (!methods.includes(method)) throw new RangeError(`the method must be one of ${methods.join(', ')}`);
  requirePath(path);
  const parameters = definedValues(query);
  const queryText = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`;
  const text = typeof body === 'string' ? body : stringifyJson(body);
  const fields = definedValues(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const request = {
    ...(method !== 'POST' && { method }),
    path: path + queryText,
    ...(fields.length > 0 && { headers: Object.fromEntries(fields) }),
    body: text,
  };
  requireHeaders(request);
  return request;
}

function definedValues(values: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
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

/** Whether servers may take a path for another: dot segments (RFC 3986, 5.2.4) in any encoding, or empty segments, which they merge. */
function leadsElsewhere(path: string): boolean {
  // Most paths have no dots and no double slashes, and a search is faster than splitting them.
  if (!/\/\/|\.|%2e/i.test(path)) return false;
  const [way = ''] = path.split('?');
  return (
    /\/\//.test(way) || way.split(/[/\\]|%2f|%5c/i).some((part) => /^(?:\.|%2e){1,2}(?:;|$)/i.test(part))
  );
}

/** Returns the request. @throws a RangeError when the request has the header of the token, which would be shown */
export function withoutSecret(request: ApiRequest, auth: Auth | undefined): ApiRequest {
  const header = typeof auth === 'object' ? auth.header.toLowerCase() : '';
  if (request.headers?.[header] === undefined) return request;
  throw new RangeError(`the client sets the header ${header} itself, by the member auth: leave it out`);
}

/** Adds an idempotency key to a request. @throws a RangeError for a key that a header can't have */
export function withKey(request: ApiRequest, key: string): ApiRequest {
  requireValue(keyHeader, key);
  return { ...request, headers: { ...request.headers, [keyHeader]: key } };
}

export function headerLines({ headers = {} }: Pick<ApiRequest, 'headers'>): readonly string[] {
  return Object.entries(headers).map((field) => field.join(': '));
}

/** A request as people read it: method and path, headers of its own, body. */
export function requestText(request: ApiRequest): string {
  const { method = 'POST', path, body } = request;
  return [`${method} ${path}`, ...headerLines(request), body].join('\n').trimEnd();
}
