import { inReadingOrder } from '../../../base/text/printable.ts';

/** A part of a page, which Node writes as HTML and scripts can draw again. False and undefined are left out. */
export type Markup = MarkupElement | string | false | undefined | readonly Markup[];

type Name =
  | (
      | 'a'
      | 'b'
      | 'button'
      | 'code'
      | 'dd'
      | 'del'
      | 'div'
      | 'dl'
      | 'dt'
      | 'h1'
      | 'h2'
      | 'h3'
      | 'header'
      | 'ins'
    )
  | (
      | 'li'
      | 'ol'
      | 'p'
      | 'section'
      | 'span'
      | 'table'
      | 'tbody'
      | 'td'
      | 'th'
      | 'thead'
      | 'time'
      | 'tr'
      | 'ul'
    );

export interface MarkupElement {
  readonly name: Name;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Markup[];
}

export function markup(
  name: Name,
  attributes: MarkupElement['attributes'],
  ...children: readonly Markup[]
): MarkupElement {
  return { name, attributes, children };
}

/** A text whose options, such as `--code`, are not broken into two lines. */
export function withWholeOptions(text: string): Markup {
  const parts = text.split(/(--[a-z][a-z-]*)/);
  return parts.map((part, place) => (place % 2 === 0 ? part : markup('span', { class: 'option' }, part)));
}

/** A list of names and values. A name without a value is left out. */
export function factList(facts: readonly (readonly [name: string, text: Markup])[]): Markup {
  const shown = facts.filter(([, text]) => text);
  return markup(
    'dl',
    { class: 'facts' },
    ...shown.map(([name, text]) => markup('div', {}, markup('dt', {}, name), markup('dd', {}, text))),
  );
}

/** The HTML of a part of a page. Texts are escaped, and characters that change the reading order become visible. */
export function htmlOf(part: Markup): string {
  if (part === false || part === undefined) return '';
  if (typeof part === 'string') return escapeMarkup(inReadingOrder(part));
  if (!isElement(part)) return part.map(htmlOf).join('');
  const { name, attributes, children } = part;
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeMarkup(value)}"`);
  return `<${name}${written.join('')}>${htmlOf(children)}</${name}>`;
}

export function isElement(part: MarkupElement | readonly Markup[]): part is MarkupElement {
  return !Array.isArray(part);
}

export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
