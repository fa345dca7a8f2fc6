import type { DecidedRow, LeftOut, UnderstoodRow } from './row.ts';

/** What becomes of a row. An `act` changes no field: it restores its entry, for example. An `edit` sets or clears fields. */
export type RowKind = 'act' | 'edit' | 'invalid' | LeftOut['why'];

export function rowKindOf(row: DecidedRow): RowKind {
  if (row.kind === 'invalid') return 'invalid';
  if (row.kind === 'left out') return row.because.why;
  return changesOf(row).length === 0 ? 'act' : 'edit';
}

/** What a row does to one field. */
export interface FieldChange {
  readonly field: string;
  /** The value of the field before the row. Undefined if unknown. */
  readonly old: string | undefined;
  /** The value that the row sets. Empty: the field is cleared. */
  readonly new: string;
}

/** A required field says what the row acts on, or how; a compared row has the whole entry, of which it changes what is in `old`. */
export function changesOf({
  operation,
  values,
  old = {},
  compared,
}: Pick<UnderstoodRow, 'values' | 'old' | 'compared'> & {
  readonly operation: { readonly fields: readonly { readonly name: string; readonly required: boolean }[] };
}): readonly FieldChange[] {
  return operation.fields.flatMap(({ name, required }) => {
    const value = values[name];
    if (required || value === undefined || (compared && old[name] === undefined)) return [];
    return [{ field: name, old: old[name], new: value }];
  });
}

/** Fields that the API may reset, because the row leaves them out. */
export function missingFields({ operation, values, compared }: UnderstoodRow): readonly string[] {
  if (!operation.mayReset || compared) return [];
  return operation.fields.flatMap(({ name, required }) =>
    required || values[name] !== undefined ? [] : [name],
  );
}

/** The verb in an operation's name: `restore`, of `restore-evaluation`. The whole name, if its noun is missing. */
export function verbOf({ name, thing }: { readonly name: string; readonly thing: string }): string {
  const noun = `-${thing}`;
  return name.endsWith(noun) ? name.slice(0, -noun.length).replaceAll('-', ' ') : name;
}

/** `restore 20 evaluations`; `close for 3 tickets` if the operation is just named `close`. */
export function deedText(
  operation: { readonly name: string; readonly thing: string },
  things: string,
): string {
  const verb = verbOf(operation);
  return verb === operation.name ? `${verb} for ${things}` : `${verb} ${things}`;
}
