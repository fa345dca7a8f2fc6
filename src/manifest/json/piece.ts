import { LosslessNumber } from 'lossless-json';
import { parseJson } from '../../json.ts';

/** The value of a piece of JSON text, or what is wrong with it and where (character index from 0). */
export type ParsedPiece =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string; readonly index: number };

/** Parses a piece of JSON text. */
export function parsePiece(text: string): ParsedPiece {
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [suffix, index] = /\s*\(?at position (\d+)\)?/.exec(message) ?? ['', '0'];
    return { ok: false, problem: message.replace(suffix, ''), index: Number(index) };
  }
}

/** Whether a parsed value is a JSON object: neither an array nor an exact number. */
export function isJsonObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
  );
}
