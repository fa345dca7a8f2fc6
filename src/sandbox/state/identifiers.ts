/** The number of a generated thing, when the canonical decimal identifier is one of those from 1 to `count`. */
export function generatedId(id: string, count: number): number | undefined {
  if (id.length > String(count).length) return undefined;
  const number = Number(id);
  return number >= 1 && number <= count ? number : undefined;
}

/** The identifiers from 1 to `generated`, then the given ones beyond. */
export function* allIds(generated: number, given: ReadonlyMap<string, unknown>): Generator<string> {
  for (let id = 1; id <= generated; id++) yield String(id);
  for (const id of given.keys()) {
    if (generatedId(id, generated) === undefined) yield id;
  }
}
