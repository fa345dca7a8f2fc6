/** Manifests for end-to-end tests. */

export interface MixedManifest {
  readonly text: string;
  readonly rows: number;
}

/** A number of rows of both operations, with unknown ids and identical duplicates among them. */
export function mixedCsv(rows: number): MixedManifest {
  const lines = ['operation,evaluation_id,user_id,soundboard_id,title,note'];
  for (let row = 1; row <= rows; row += 1) {
    if (row % 100 === 0) lines.push(lines.at(-50) ?? '');
    else if (row % 97 === 0)
      lines.push(`restore-evaluation,${9_000_000_000_000_000_000n + BigInt(row)},u1,,,unknown`);
    else if (row % 3 === 0) lines.push(`update-soundboard,,,${row},"Title, ""${row}""",=cmd()`);
    else lines.push(`restore-evaluation,${row},u${row},,,`);
  }
  return { text: `${lines.join('\n')}\n`, rows };
}

/** @param first the evaluation of the first row */
export function restoreCsv(rows: number, first = 1): MixedManifest {
  const lines = Array.from({ length: rows }, (_, index) => `${first + index},u${first + index}`);
  return { text: `evaluation_id,user_id\n${lines.join('\n')}\n`, rows };
}

/** A value as an old one in a manifest. */
export const cell = (value: unknown): string =>
  value === '' ? '<clear>' : `"${String(value).replaceAll('"', '""')}"`;
