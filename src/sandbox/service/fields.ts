/** The fields of a request object by their snake_case name, or why it is not such an object. */
export type FieldsReading =
  | { readonly ok: true; readonly fields: ReadonlyMap<string, unknown> }
  | { readonly ok: false; readonly message: string };

/**
 * Reads an object of a request, whose keys may be in snake_case or lowerCamelCase. `null` counts as left out. Unknown
 * fields are refused, as a client that sends one has most likely misspelt it. `where` is the object's name in
 * messages.
 */
export function readFields(value: unknown, names: readonly string[], where: string): FieldsReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, message: `${where} must be a JSON object` };
  }
  const fields = new Map<string, unknown>();
  for (const [key, field] of Object.entries(value)) {
    const name = names.find((candidate) => candidate === key || toCamelCase(candidate) === key);
    if (name === undefined) return { ok: false, message: `${where} has no field ${JSON.stringify(key)}` };
    if (fields.has(name)) return { ok: false, message: `${where} has ${name} twice` };
    fields.set(name, field);
  }
  for (const [name, field] of fields) {
    if (field === null) fields.delete(name);
  }
  return { ok: true, fields };
}

const camelCased = new Map<string, string>();

/** `deleted_at` as `deletedAt`. */
export function toCamelCase(name: string): string {
  let result = camelCased.get(name);
  if (result === undefined) {
    result = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    camelCased.set(name, result);
  }
  return result;
}
