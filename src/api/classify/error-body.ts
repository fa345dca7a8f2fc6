import { isJsonObject, parseJson } from '../../text/json.ts';
import { type RpcCode, rpcCode } from './verdict.ts';

/** What the body of an error answer says. */
export interface ErrorBody {
  /** `json` is a JSON object; other JSON values count as `text`. */
  readonly kind: 'json' | 'html' | 'text' | 'empty';
  /** The canonical code, when the body has one. */
  readonly code?: RpcCode;
  /** What the server says, as it says it; empty when it says nothing. */
  readonly message: string;
  /** The parsed object, for `google.rpc` details. */
  readonly json?: unknown;
}

/**
 * Reads an error body of any of the known shapes:
 *
 * - `{"code":5,"message":"…","details":[…]}` and `{"code":"not_found","message":"…"}`
 * - `{"error":{"code":404,"status":"NOT_FOUND","message":"…","details":[…]}}`
 * - `application/problem+json`: `{"type":"…","title":"…","status":404,"detail":"…"}` (RFC 9457)
 * - `{"error":"invalid_token","error_description":"…"}` (RFC 6749, section 5.2)
 * - plain text, an HTML page, nothing
 */
export function readErrorBody(text: string): ErrorBody {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'empty', message: '' };
  if (trimmed.startsWith('<')) return { kind: 'html', message: htmlTitle(trimmed) };
  const json = trimmed.startsWith('{') ? parseObject(trimmed) : undefined;
  if (json === undefined) return { kind: 'text', message: trimmed };
  const error = isJsonObject(json['error']) ? json['error'] : {};
  const codes = [
    json['code'],
    nameOnly(json['status']),
    nameOnly(error['status']),
    error['code'],
    json['error'],
  ];
  const code = codes.map(rpcCode).find((candidate) => candidate !== undefined);
  const message = errorMessage(json, error, code === undefined ? ownCode(json, error) : undefined);
  return { kind: 'json', message, json, ...(code && { code }) };
}

function errorMessage(json: JsonRecord, error: JsonRecord, name: string | undefined): string {
  const texts = [
    json['message'],
    error['message'],
    json['detail'],
    json['title'],
    json['error_description'],
    json['error'],
  ];
  const message = texts.find((candidate) => typeof candidate === 'string' && candidate.trim() !== '') ?? '';
  if (name === undefined || name === message) return String(message);
  return message === '' ? name : `${name}: ${message}`;
}

/** The `status` of a problem document is a number: the HTTP status, no canonical code. */
function nameOnly(value: unknown): unknown {
  return typeof value === 'string' ? value : undefined;
}

/** A code of the service's own, such as `EVALUATION_NOT_DELETED`: often the only precise thing that it says. */
function ownCode(json: JsonRecord, error: JsonRecord): string | undefined {
  const codes = [json['code'], error['status'], error['code'], json['error']];
  return codes.find((code) => typeof code === 'string' && /^[A-Za-z][\w.-]*$/.test(code)) as
    | string
    | undefined;
}

function htmlTitle(page: string): string {
  return /<title[^>]*>([^<]{0,200})/i.exec(page.slice(0, 10_000))?.[1]?.trim() ?? '';
}

type JsonRecord = Readonly<Record<string, unknown>>;

function parseObject(text: string): JsonRecord | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
