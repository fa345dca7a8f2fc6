import { shellWord } from '../../../base/text/command-words.ts';
import { count, counted } from '../../../base/text/format.ts';
import { isJsonObject, isLosslessNumber } from '../../../base/text/json.ts';
import { fieldNameOf } from '../../operation/field-names.ts';
import { excerpt } from '../../rows/problem.ts';
import type { PageFacts } from '../manifest.ts';

/** The depth down to which rows are looked for: deeper objects are more likely values of a row. */
const deepestRows = 3;

/** The paths at which a value has rows, in the form of `--rows-at`: `data.items`. */
export function pathsToRows(value: object, depth = 1): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (Array.isArray(member)) return member.length > 0 && member.every(isJsonObject) ? [name] : [];
    if (!isJsonObject(member) || depth === deepestRows) return [];
    return pathsToRows(member, depth + 1).map((path) => `${name}.${path}`);
  });
}

export function rowsAtOption(path: string): string {
  return `--rows-at ${shellWord(path)}`;
}

/** A command that joins pages to one array of rows. @param documents each is an array of rows, one row, or has its rows at a path */
export function joiningCommand(documents: 'arrays' | 'rows' | readonly string[]): string {
  const filter = documents === 'arrays' ? 'add' : documents === 'rows' ? '.' : filterOf(documents);
  return `jq -s ${shellWord(filter)} FILE > rows.json (with jq 1.7 or later: before, it rounds long identifiers)`;
}

function filterOf(path: readonly string[]): string {
  const names = path.map((name) => (/^[a-z_]\w*$/i.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`));
  return `[.[]${names.join('')}[]]`;
}

export function pageFactsOf(
  members: readonly (readonly [name: string, value: unknown])[],
): PageFacts | undefined {
  const facts: { -readonly [Name in keyof PageFacts]: PageFacts[Name] } = {};
  for (const [title, value] of members) {
    const name = fieldNameOf(title);
    const rows = isLosslessNumber(value) || typeof value === 'number' ? Number(value) : undefined;
    if (rows !== undefined && /^(?:total|count$)(?!.*page)/.test(name)) facts.total ??= { name: title, rows };
    const isMore = /^(?:has_)?(?:more|next)/.test(name) && Boolean(value) && value !== 'null';
    const isPages =
      rows !== undefined && rows > 1 && /^(?:total|page).*(?:pages|page_count)$|^page_?count$/.test(name);
    if (isMore || isPages) facts.next ??= title;
  }
  return facts.total === undefined && facts.next === undefined ? undefined : facts;
}

export function pageWarning({ total, next }: PageFacts, rows: number): string | undefined {
  const parts: string[] = [];
  if (total !== undefined && total.rows > rows)
    parts.push(`its "${excerpt(total.name)}" is ${count(total.rows)}`);
  if (next !== undefined) parts.push(`its "${excerpt(next)}" points to more pages`);
  if (parts.length === 0) return undefined;
  return `the file has ${counted(rows, 'row')}, but ${parts.join(', and ')}: fetch the other pages, too`;
}
