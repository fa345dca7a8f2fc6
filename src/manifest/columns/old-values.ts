import type { Operation } from '../../operation/operation.ts';

/** What a row says that its fields were before, by the name of the field. */
export type OldValues = Readonly<Record<string, unknown>>;

const prefix = 'old_';

/** The name of the column that says what a field was before. */
export function oldNameOf(field: string): string {
  return `${prefix}${field}`;
}

/** The names for the old values of the fields of an operation. */
export function oldNames({ fields }: Operation): readonly string[] {
  return fields.filter(({ undoable }) => undoable).map(({ name }) => oldNameOf(name));
}

/** Whether a name that a column stands for is one for an old value, if it is the name of something. */
export function isOldName(name: string): boolean {
  return name.startsWith(prefix);
}

/**
 * The old values among what a row gives; undefined when there are none.
 *
 * @param names as `oldNames` gives them
 */
export function pickOldValues(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
): OldValues | undefined {
  let old: Record<string, unknown> | undefined;
  for (const name of names) {
    const value = given[name];
    if (value === undefined) continue;
    old ??= {};
    old[name.slice(prefix.length)] = value;
  }
  return old;
}

/** Checks old values as the row that would send them, so that none of them can be refused then. */
export function checkOldValues(
  { schema, fields }: Operation,
  given: Readonly<Record<string, unknown>>,
  old: OldValues,
): ReturnType<Operation['schema']['safeParse']> {
  const required = fields.filter((field) => field.required).map(({ name }) => [name, given[name]] as const);
  return schema.safeParse({ ...Object.fromEntries(required), ...old });
}
