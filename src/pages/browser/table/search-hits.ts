import { composed } from '../../../base/text/composed.ts';

/** The words of a search, each as a pattern. Words in quotes belong together. */
export function searchPatterns(q: string): readonly string[] {
  const words = Array.from(q.matchAll(/"([^"]+)"|(\S+)/g), ([, phrase, word = phrase]) => word ?? '');
  return words.map((word) => composed(word).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
}

/** What a search finds, to mark it. Undefined for a search without words. */
export function hitPattern(q: string): RegExp | undefined {
  // A word that begins with another one comes first, because the first alternative wins.
  const patterns = searchPatterns(q).toSorted((a, b) => b.length - a.length);
  return patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'giu');
}

/** The characters before a hit that are kept, so that the reader sees where it is. */
const keptBefore = 12;

/** The text from shortly before its first hit, if the hit would be beyond the part that is in sight. */
export function textFromHit(text: string, hits: RegExp, inSight: number): string {
  const [first] = text.matchAll(hits);
  if (first === undefined || first.index + first[0].length <= inSight) return text;
  const start = Math.max(0, first.index - keptBefore);
  const word = text.slice(start, first.index).search(/\s\S/);
  return `…${text.slice(word < 0 ? start : start + word + 1)}`;
}
