import { LosslessNumber } from 'lossless-json';
import { parseJson } from '../../json.ts';
import { excerpt } from '../excerpt.ts';
import { findRepeatedName } from './repeated-name.ts';

/** The value of a piece of JSON text, or what is wrong with it and where (character index from 0). */
export type ParsedPiece =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      /** A name that stands twice is well-formed JSON, but nobody can tell which of its values is meant. */
      readonly code: 'MANIFEST_SYNTAX' | 'MANIFEST_REPEATED_NAME';
      readonly problem: string;
      readonly index: number;
    };

/** Parses a piece of JSON text in which no object may have a name twice. */
export function parsePiece(text: string): ParsedPiece {
  let value: unknown;
  const { stackTraceLimit } = Error;
  try {
    // Nobody sees the stacks of these errors, and a million broken lines would spend most of their time on them.
    Error.stackTraceLimit = 0;
    value = parseJson(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [suffix, index] = /\s*\(?at position (\d+)\)?/.exec(message) ?? ['', '0'];
    return {
      ok: false,
      code: 'MANIFEST_SYNTAX',
      problem: message.replace(suffix, ''),
      index: Number(index),
    };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  const repeated = findRepeatedName(text, value);
  if (repeated === undefined) return { ok: true, value };
  return {
    ok: false,
    code: 'MANIFEST_REPEATED_NAME',
    problem: repeatedName(repeated.name),
    index: repeated.index,
  };
}

/** What is wrong with an object that has this name twice. */
export function repeatedName(name: string): string {
  return `"${excerpt(name)}" stands twice in this object; keep one of them`;
}

/** Whether a parsed value is a JSON object: neither an array nor an exact number. */
export function isJsonObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
  );
}
