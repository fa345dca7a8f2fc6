import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../json.ts';
import { type Refusal, refuse } from './answer.ts';
import type { Call, Endpoint } from './endpoint.ts';

export type CallOrRefusal =
  | { readonly ok: true; readonly call: Call }
  | { readonly ok: false; readonly refusal: Refusal };

/** Reads the call that a request's body asks for (interface document, section 4: JSON, and said to be JSON). */
export function readCall(endpoint: Endpoint, contentType: string | undefined, body: Buffer): CallOrRefusal {
  if (!isJson(contentType)) {
    return refused('the header Content-Type must be application/json', { status: 415 });
  }
  if (!isUtf8(body)) return refused('the body is not UTF-8');
  let json: unknown;
  try {
    json = parseJson(body.toString('utf8'));
  } catch (error) {
    return refused(`the body is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const reading = endpoint.read(json);
  return reading.ok ? reading : refused(reading.message);
}

function refused(message: string, rest?: Partial<Refusal>): CallOrRefusal {
  return { ok: false, refusal: refuse('INVALID_ARGUMENT', message, rest) };
}

function isJson(contentType: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? '');
}
