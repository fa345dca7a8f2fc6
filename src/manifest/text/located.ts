import { usageError } from '../../errors.ts';
import { TextMistake } from './mistake.ts';
import { positionOf } from './position.ts';
import type { TextSource } from './source.ts';

/** Runs a reading of the source; a mistake in the text becomes a `usageError` that names file, line and column. */
export async function located<Result>(source: TextSource, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof TextMistake ? await locate(source, error) : error;
  }
}

/** The same for a reading that yields results. */
export async function* locatedAll<Result>(
  source: TextSource,
  results: AsyncIterable<Result>,
): AsyncGenerator<Result, void, undefined> {
  try {
    yield* results;
  } catch (error) {
    throw error instanceof TextMistake ? await locate(source, error) : error;
  }
}

async function locate(source: TextSource, { code, at, message }: TextMistake): Promise<Error> {
  if (at === undefined) return usageError(code, `${source.name}: ${message}`);
  const { line, column } = typeof at === 'number' ? await positionOf(source, at) : at;
  return usageError(code, `${source.name}:${line}:${column}: ${message}`);
}
