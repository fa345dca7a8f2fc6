/**
 * The name that a column header stands for: `Evaluation ID`, `evaluationId`, `EVALUATION_ID` and `evaluation-id` all
 * stand for `evaluation_id`.
 */
export function fieldNameOf(header: string): string {
  return header
    .normalize('NFKC')
    .trim()
    .replace(/(\p{Ll}|\d)(?=\p{Lu})/gu, '$1_')
    .replace(/[\s\-_.]+/g, '_')
    .toLowerCase();
}

/** The name that a value of the column `operation` stands for: `Restore Evaluation` for `restore-evaluation`. */
export function operationNameOf(text: string): string {
  return fieldNameOf(text).replaceAll('_', '-');
}

/**
 * The field that a column was probably meant to be though it is not called so: `titel` for `title`, `evaluationid`
 * for `evaluation_id`. Two slips are forgiven, one in short names.
 */
export function resembledField(header: string, fields: Iterable<string>): string | undefined {
  const name = squeeze(fieldNameOf(header));
  let best: { readonly field: string; readonly distance: number } | undefined;
  for (const field of fields) {
    const target = squeeze(field);
    const allowed = target.length <= 5 ? 1 : 2;
    if (Math.abs(target.length - name.length) > allowed) continue;
    const distance = slips(name, target);
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { field, distance };
  }
  return best?.field;
}

function squeeze(name: string): string {
  return name.replaceAll('_', '');
}

/** Letters left out, added, replaced or swapped with their neighbour (optimal string alignment distance). */
function slips(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= from.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) least = Math.min(least, at(row - 2, column - 2) + 1);
      rows[row]?.push(least);
    }
  }
  return at(from.length, to.length);
}
