/** The name that a user probably means: at most two letters differ, one in short names. */
export function nearestName(typed: string, names: Iterable<string>): string | undefined {
  const name = typed.replaceAll('_', '');
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of names) {
    const target = candidate.replaceAll('_', '');
    const allowed = target.length <= 5 ? 1 : 2;
    if (Math.abs(target.length - name.length) > allowed) continue;
    const distance = editDistance(name, target);
    if (distance <= allowed && (best === undefined || distance < best.distance))
      best = { name: candidate, distance };
  }
  return best?.name;
}

/** Counts letters omitted, added, replaced or swapped with a neighbor (optimal string alignment distance). */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= from.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const replaced = at(row - 1, column - 1) + (same ? 0 : 1);
      let least = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, replaced);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) least = Math.min(least, at(row - 2, column - 2) + 1);
      rows[row]?.push(least);
    }
  }
  return at(from.length, to.length);
}
