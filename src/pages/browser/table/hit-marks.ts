import { composed } from '../../../base/text/composed.ts';

/** Marks the hits in the texts of an element. */
export function markHits(place: Node, hits: RegExp): void {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    const parts = markedParts(composed(text.data), hits);
    if (parts.length > 0) text.replaceWith(...parts);
  }
}

/** A text as its hits and what is between them. Empty without a hit. */
function markedParts(text: string, hits: RegExp): readonly (Node | string)[] {
  const parts: (Node | string)[] = [];
  let end = 0;
  for (const { 0: hit, index } of text.matchAll(hits)) {
    const mark = document.createElement('mark');
    mark.textContent = hit;
    parts.push(text.slice(end, index), mark);
    end = index + hit.length;
  }
  if (parts.length > 0) parts.push(text.slice(end));
  return parts.filter((part) => part !== '');
}
