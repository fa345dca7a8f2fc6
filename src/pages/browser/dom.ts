import { inReadingOrder } from '../../base/text/printable.ts';
import { type OutcomeCounts, outcomes, totalOf } from '../../domain/terms.ts';
import { isElement, type Markup } from '../../engine/report/html/markup.ts';

/** Attributes of an element, as in markup. Functions are event listeners. */
type Properties = Readonly<Record<string, string | boolean | ((event: Event) => void) | undefined>>;

/** Children of an element: texts, elements, and lists of children. False and undefined are left out. */
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

/** The nodes of a part that Node has written as HTML. */
export function drawn(part: Markup): Child {
  if (part === false || part === undefined || typeof part === 'string') return part;
  if (!isElement(part)) return part.map(drawn);
  return element(part.name, part.attributes, ...part.children.map(drawn));
}

function isProperties(first: Properties | Child): first is Properties {
  return typeof first === 'object' && !Array.isArray(first) && !(first instanceof Node);
}

export function nodesOf(child: Child): readonly Node[] {
  if (child === false || child === undefined) return [];
  if (typeof child === 'string') return [document.createTextNode(inReadingOrder(child))];
  return child instanceof Node ? [child] : child.flatMap(nodesOf);
}

/** @param properties additional attributes */
export function button(text: Child, click: () => void, properties: Properties = {}): HTMLButtonElement {
  return element('button', { type: 'button', click, ...properties }, text);
}

/** A table in a scroll area of its own, whose label is unique on the page. Children that are not cells become cells. */
export function tableElement(
  label: string,
  head: readonly Child[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const cell = (content: Child) =>
    content instanceof HTMLTableCellElement ? content : element('td', content);
  return element(
    'div',
    { class: 'wide', id: `table ${label}`, tabindex: '0', role: 'region', 'aria-label': label },
    element(
      'table',
      element(
        'thead',
        element(
          'tr',
          head.map((title) =>
            title instanceof HTMLTableCellElement ? title : element('th', { scope: 'col' }, title),
          ),
        ),
      ),
      element(
        'tbody',
        rows.map((cells) => element('tr', cells.map(cell))),
      ),
    ),
  );
}

export function numberCell(text: string): HTMLElement {
  return element('td', { class: 'number' }, text);
}

/** A bar of the outcomes, and of the other rows of all. Screen readers skip the bar: the page has the counts in words beside it. */
export function outcomeBar(counts: OutcomeCounts, all: number): HTMLElement {
  const rest = ['rest', all - totalOf(counts)] as const;
  const shares = [...outcomes.map((outcome) => [outcome, counts[outcome]] as const), rest];
  const parts = shares
    .filter(([, rows]) => rows > 0)
    .map(([name, rows]) => {
      const part = element('span', { class: name });
      part.style.flexGrow = String(rows);
      return part;
    });
  return element('div', { class: 'bar', 'aria-hidden': 'true' }, parts);
}

/**
 * Replaces the children of an element. Equal children stay, with the text that the reader has selected in them, and so do
 * children with the same `id`, with their listeners, focus and scroll position. The new children may include old ones. The
 * focus stays on the element with the same `id`.
 */
export function redraw(place: Element, ...children: readonly Child[]): void {
  const focused = place.contains(document.activeElement) ? document.activeElement?.id : undefined;
  const made = nodesOf(children);
  keepOpen(place, made);
  const nodes = made.map((node) => lasting(place, node));
  const stays = new Set<Node>(nodes);
  for (const [index, node] of nodes.entries()) {
    // An element that is moved loses the focus: what is in its way goes instead.
    if (node.parentNode === place)
      for (const old of [...place.childNodes].slice(index)) {
        if (stays.has(old)) break;
        old.remove();
      }
    const old = place.childNodes[index];
    if (old === node) continue;
    if (old === undefined || stays.has(old)) place.insertBefore(node, old ?? null);
    else if (!old.isEqualNode(node)) old.replaceWith(node);
  }
  for (const old of [...place.childNodes].slice(nodes.length)) old.remove();
  if (focused && document.activeElement?.id !== focused)
    document.getElementById(focused)?.focus({ preventScroll: true });
}

/** The child of a place with the same `id` and name as a new element, made equal to it; the node itself if there is none. */
function lasting(place: Element, node: Node): Node {
  if (!(node instanceof HTMLElement) || node.id === '' || node.parentNode === place) return node;
  const old = [...place.children].find(({ id, nodeName }) => id === node.id && nodeName === node.nodeName);
  if (old === undefined) return node;
  for (const { name, value } of node.attributes) old.setAttribute(name, value);
  for (const name of old.getAttributeNames()) if (!node.hasAttribute(name)) old.removeAttribute(name);
  redraw(old, [...node.childNodes]);
  return old;
}

/** Opens new `details` elements where the reader has opened old ones with the same `id`. */
function keepOpen(place: Element, nodes: readonly Node[]): void {
  const open = new Set([...place.querySelectorAll('details[open][id]')].map(({ id }) => id));
  if (open.size === 0) return;
  const elements = nodes.filter((node) => node instanceof Element);
  for (const details of elements.flatMap((made) => [made, ...made.querySelectorAll('details')]))
    if (open.has(details.id)) details.setAttribute('open', '');
}

/**
 * Copies the text of a button that was clicked, if any, and says so on the button; or selects what is before the button if the
 * browser does not allow copying.
 */
export async function copyClicked({ target }: Event): Promise<void> {
  const button = target instanceof Element ? target.closest<HTMLElement>('button[data-copy]') : null;
  if (button === null) return;
  const [word] = button.childNodes;
  const usual = button.dataset['word'] ?? word?.textContent ?? '';
  button.dataset['word'] = usual;
  const tell = (said: string): void => {
    if (word !== undefined) word.textContent = said;
  };
  try {
    await navigator.clipboard.writeText(button.dataset['copy'] ?? '');
    tell('Copied');
  } catch {
    if (button.previousElementSibling) getSelection()?.selectAllChildren(button.previousElementSibling);
    tell('Selected');
  }
  setTimeout(() => tell(usual), 2_000);
}

/** Offers a text as a download. */
export function download(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  element('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
