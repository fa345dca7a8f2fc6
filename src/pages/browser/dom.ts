import { inReadingOrder } from '../../base/text/printable.ts';
import { type Outcome, type OutcomeCounts, totalOf } from '../../domain/terms.ts';
import { isElement, type Markup } from '../../engine/report/html/markup.ts';

/** Attributes of an element, as in markup. Functions are event listeners. */
type Properties = Readonly<Record<string, string | boolean | ((event: Event) => void) | undefined>>;

/** A child of an element. False and undefined are left out. */
export type Child = Node | string | false | undefined | readonly Child[];

/** Makes an element. Texts become text nodes, never markup; characters that change the reading order become visible. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  first?: Properties | Child,
  ...rest: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  const [properties, children] = isProperties(first) ? [first, rest] : [{}, [first, rest]];
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, '');
    else if (typeof value === 'string') made.setAttribute(key, value);
  }
  made.append(...nodesOf(children));
  return made;
}

/** Elements without listeners, which can become any other element. */
const plainElements = new WeakSet<Node>();

/** Draws a part of a page that Node writes as HTML, too. */
export function drawnMarkup(part: Markup): Child {
  if (part === false || part === undefined || typeof part === 'string') return part;
  if (!isElement(part)) return part.map(drawnMarkup);
  const made = element(part.name, part.attributes, ...part.children.map(drawnMarkup));
  plainElements.add(made);
  return made;
}

function isProperties(first: Properties | Child): first is Properties {
  return typeof first === 'object' && !Array.isArray(first) && !(first instanceof Node);
}

export function nodesOf(child: Child): readonly Node[] {
  if (child === false || child === undefined) return [];
  if (typeof child === 'string') return [document.createTextNode(inReadingOrder(child))];
  return child instanceof Node ? [child] : child.flatMap(nodesOf);
}

export function button(text: Child, click: (event: Event) => void, more: Properties = {}): HTMLButtonElement {
  return element('button', { type: 'button', click, ...more }, text);
}

export function searchField(id: string, what: string, input: () => void): HTMLInputElement {
  return element('input', { type: 'search', id, placeholder: what, 'aria-label': what, input });
}

/** Delays an action until the reader pauses typing. */
export function debounced(action: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, 150);
  };
}

/**
 * A table in a scroll area of its own, whose label is unique on the page. Children that are not cells become cells. A header is aligned
 * as the cells below it.
 */
export function tableElement(
  label: string,
  head: readonly Child[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const cell = (content: Child, name: 'th' | 'td', className?: string) =>
    isCell(content) ? content : element(name, { class: className }, content);
  const heads = head.map((content, place) => {
    const below = rows.map((cells) => cells[place]).find(isCell);
    return cell(content, 'th', below?.className);
  });
  const lines = rows.map((cells) => element('tr', ...cells.map((content) => cell(content, 'td'))));
  return element(
    'div',
    { class: 'wide', id: `table ${label}`, tabindex: '0', role: 'region', 'aria-label': label },
    element('table', element('thead', element('tr', ...heads)), element('tbody', lines)),
  );
}

function isCell(content: Child): content is HTMLTableCellElement {
  return content instanceof HTMLTableCellElement;
}

export function numberCell(text: string): HTMLElement {
  return element('td', { class: 'number' }, text);
}

/** The rows of a bar. The codes say how many rows of each outcome are unclear. */
interface BarRows {
  readonly counts: OutcomeCounts;
  readonly rows: number;
  readonly codes: readonly { readonly outcome: Outcome; readonly unclear?: number }[];
}

/**
 * A bar of the outcomes, with their unclear rows hatched, and of the other rows. Screen readers skip the bar: the page has the counts in
 * words beside it. For a pointer, the bar is the ledger of the page, if there is one.
 */
export function outcomeBar({ counts, rows: all, codes }: BarRows): HTMLElement {
  const unclearOf = (wanted: string): number =>
    codes.filter(({ outcome }) => outcome === wanted).reduce((sum, { unclear = 0 }) => sum + unclear, 0);
  const shares = Object.entries({ ...counts, rest: all - totalOf(counts) }).flatMap(([name, rows]) => {
    const unclear = Math.min(rows, unclearOf(name));
    return [
      { group: name, rows: rows - unclear },
      { group: `${name} unclear`, rows: unclear },
    ];
  });
  const parts = shares
    .filter(({ rows }) => rows > 0)
    .map(({ group, rows }) => {
      const click = () => document.querySelector<HTMLElement>(`.ledger [data-show="${group}"]`)?.click();
      const part = element('span', { class: group, click });
      part.style.flexGrow = String(rows);
      return part;
    });
  return element('div', { class: 'bar', 'aria-hidden': 'true' }, parts);
}

/**
 * Replaces the children of an element; new ones may include old ones. Equal children stay, with the text that the reader has selected
 * in them. So do children with the same `id`, with their listeners, focus and scroll position, and plain ones in the same place.
 */
export function redraw(place: Element, ...children: readonly Child[]): void {
  const focused = place.contains(document.activeElement) ? document.activeElement?.id : undefined;
  const nodes = nodesOf(children).map((node, index) => lastingNode(place, node, index));
  const stays = new Set(nodes);
  // Remove old children first, because an element that is moved loses the focus.
  for (const old of [...place.childNodes]) if (!stays.has(old)) old.remove();
  let next = place.firstChild;
  for (const node of nodes)
    if (node === next) next = next.nextSibling;
    else place.insertBefore(node, next);
  if (focused && document.activeElement?.id !== focused)
    document.getElementById(focused)?.focus({ preventScroll: true });
}

/** Has the usual word of a button while the button says that its text is copied. */
const wordAttribute = 'data-word';
const lastingAttributes: ReadonlySet<string> = new Set(['open', wordAttribute]);

/** The old child in place of a new node: one that is equal, or a twin that is made equal. */
function lastingNode(place: Element, node: Node, index: number): Node {
  if (node.parentNode === place) return node;
  const same = place.childNodes[index];
  if (same?.isEqualNode(node)) return same;
  if (!(node instanceof HTMLElement)) return node;
  const old = twinOf(node, place, same);
  if (old === undefined) return node;
  for (const { name, value } of node.attributes) old.setAttribute(name, value);
  // Some attributes are kept: what the reader has opened stays open.
  for (const name of old.getAttributeNames())
    if (!lastingAttributes.has(name) && !node.hasAttribute(name)) old.removeAttribute(name);
  // A button that says that its text is copied goes on saying so.
  if (!old.hasAttribute(wordAttribute)) redraw(old, [...node.childNodes]);
  return old;
}

/** The old child with the same `id`. Without an `id`, the old child in the same place if both are plain. */
function twinOf(node: HTMLElement, place: Element, same: Node | undefined): Element | undefined {
  const isAlike = ({ id, nodeName }: Element) => id === node.id && nodeName === node.nodeName;
  if (node.id !== '') return [...place.children].find(isAlike);
  const isPlain = same instanceof Element && plainElements.has(same) && plainElements.has(node);
  return isPlain && isAlike(same) ? same : undefined;
}

/** Copies the text of a clicked button. */
export async function copyClicked({ target }: Event): Promise<void> {
  const button = target instanceof Element ? target.closest<HTMLElement>('button[data-copy]') : null;
  const word = button?.firstChild;
  if (!button || !word) return;
  const { copy = '' } = button.dataset;
  const usual = button.getAttribute(wordAttribute) ?? word.textContent ?? '';
  button.setAttribute(wordAttribute, usual);
  const isCopied = await navigator.clipboard?.writeText(copy).then(
    () => true,
    () => false,
  );
  word.textContent = isCopied || isCopiedWithEvent(copy) ? 'Copied' : 'Not allowed';
  setTimeout(() => {
    word.textContent = usual;
    button.removeAttribute(wordAttribute);
  }, 2_000);
}

/** Copies a text on pages without encryption, which have no `navigator.clipboard`. */
function isCopiedWithEvent(text: string): boolean {
  const write = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', write);
  const isCopied = document.execCommand('copy');
  document.removeEventListener('copy', write);
  return isCopied;
}

export function download(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  element('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
