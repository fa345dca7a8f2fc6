import { usageError } from '../../errors.ts';

/**
 * Reads `name=value,name=value`: names are made of letters, digits and hyphens and come once.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseAssignments(option: string, text: string): ReadonlyMap<string, string> {
  const result = new Map<string, string>();
  for (const part of text.split(',')) {
    const [, name, value] = /^([a-z\d-]+)\s*=\s*(\S.*)$/is.exec(part.trim()) ?? [];
    if (name === undefined || value === undefined) {
      throw usageError(
        'INVALID_OPTION',
        `${option}: ${JSON.stringify(part.trim())} is not of the form name=value`,
      );
    }
    if (result.has(name)) throw usageError('INVALID_OPTION', `${option}: ${name} is given twice`);
    result.set(name, value);
  }
  return result;
}
