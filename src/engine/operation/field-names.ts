import type { Operation } from './operation.ts';

export function knownNames(operations: readonly Operation[]): ReadonlySet<string> {
  return new Set(['operation', ...operations.flatMap(fieldNames), ...operations.flatMap(oldNames)]);
}

export function fieldNames({ fields }: Operation): readonly string[] {
  return fields.map(({ name }) => name);
}

export function requiredNames({ fields }: Operation): readonly string[] {
  return fields.filter(({ required }) => required).map(({ name }) => name);
}

const oldPrefix = 'old_';

export function oldNameOf(field: string): string {
  return `${oldPrefix}${field}`;
}

export function isOldName(name: string): boolean {
  return name.startsWith(oldPrefix);
}

function oldNames({ fields }: Operation): readonly string[] {
  return fields.filter(({ undoable }) => undoable).map(({ name }) => oldNameOf(name));
}

/**
 * The name of the field that a column header means: `evaluation_id` for `Evaluation ID`, `evaluationId`, `EVALUATION_ID` and
 * `evaluation-id`. Ignores invisible characters.
 */
export function fieldNameOf(header: string): string {
  return header
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(/(\p{Ll}|\d)(?=\p{Lu})/gu, '$1_')
    .replace(/[\s\-_.]+/g, '_')
    .toLowerCase();
}
