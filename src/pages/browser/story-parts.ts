import { shortened } from '../../base/text/printable.ts';
import type { FieldChange } from '../../engine/rows/row-kind.ts';
import { type Child, element } from './dom.ts';

/** The longest text in the details of a row. Longer ones are cut; files of the run have the full text. */
const longestText = 20_000;
/** Values longer than this scroll by themselves. */
const scrolledText = 1_000;
/** The longest name of a column in the details of a row. Longer ones, and long subjects in the title, are cut. */
const longestName = 200;
export const longestSubject = 80;

/** A button that copies a text. The text is an attribute, because `redraw` may keep the button of another row. */
function copyButton(what: string, text: string): HTMLElement {
  const properties = { type: 'button', class: 'copy', 'data-copy': text, id: `copy ${what}` };
  return element('button', properties, 'Copy', spoken(` ${what}`));
}

export type NamedText = readonly [name: string, value: string];

export function cutText(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}… (cut)` : text;
}

/** A list of names and values. @param copied names of values that a reader looks up elsewhere */
export function namedTexts(pairs: readonly NamedText[], copied: readonly string[]): HTMLElement {
  const shown = pairs.filter(([, value]) => value !== '');
  const lines = shown.map(([name, value]) => {
    const scrolled = { tabindex: '0', role: 'group', 'aria-label': shortened(name, longestSubject) };
    return [
      element('dt', shortened(name, longestName), copied.includes(name) && [' ', copyButton(name, value)]),
      element('dd', value.length > scrolledText ? scrolled : {}, cutText(value)),
    ];
  });
  return element('dl', ...lines);
}

/** The text of a request, with a button to copy it. */
export function requestPart(text: string): Child {
  if (text === '') return undefined;
  return [
    element('h3', 'Request ', copyButton('request', text)),
    element('pre', { tabindex: '0', 'aria-label': 'Request' }, cutText(text)),
  ];
}

export function chip(name: string, text: string): HTMLElement {
  return element('span', { class: `outcome ${name}` }, text);
}

/** Changes, each as `title Greeting → Greeting (new)`. Screen readers say which value is the old one. */
export function changeList(changes: readonly FieldChange[]): Child {
  if (changes.length === 0) return undefined;
  const lines = changes.map(({ field, old, new: is }) => {
    const was =
      old === undefined
        ? element('span', { class: 'quiet' }, '?')
        : element('del', { dir: 'auto' }, old === '' ? '(empty)' : cutText(old));
    const becomes = element('ins', { dir: 'auto' }, is === '' ? '(cleared)' : cutText(is));
    const arrow = element('span', { 'aria-hidden': 'true' }, ' → ');
    return [
      element('dt', shortened(field, longestName)),
      element('dd', spoken('old: '), was, arrow, spoken(', new: '), becomes),
    ];
  });
  return [element('h3', 'Old → new'), element('dl', { class: 'changes' }, ...lines)];
}

function spoken(text: string): HTMLElement {
  return element('span', { class: 'spoken' }, text);
}
