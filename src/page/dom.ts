import { type OutcomeCounts, outcomes } from '../domain.ts';
import { inReadingOrder } from '../text/printable.ts';

/** What an element has besides its children: attributes as they would be written; functions listen to events. */
type Properties = Readonly<Record<string, string | boolean | ((event: Event) => void) | undefined>>;

/** What an element holds: texts, elements, and lists of them; what is false is left out. */
export type Child = Node | string | false | undefined | readonly Child[];

/** Makes an element. Texts become text, never markup, with controls that would change their order made visible. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  first?: Properties | Child,
  ...others: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  const [properties, children] = isProperties(first) ? [first, others] : [{}, [first, others]];
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, '');
    else if (typeof value === 'string') made.setAttribute(key, value);
  }
  made.append(...nodesOf(children));
  return made;
}

function isProperties(first: Properties | Child): first is Properties {
  return typeof first === 'object' && !Array.isArray(first) && !(first instanceof Node);
}

function nodesOf(child: Child): readonly Node[] {
  if (child === false || child === undefined) return [];
  if (typeof child === 'string') return [document.createTextNode(inReadingOrder(child))];
  return child instanceof Node ? [child] : child.flatMap(nodesOf);
}

/** @param properties those that it has besides */
export function button(text: Child, click: () => void, properties: Properties = {}): HTMLButtonElement {
  return element('button', { type: 'button', click, ...properties }, text);
}

/** Names and what stands under each; those under which nothing stands are left out. */
export function factList(facts: readonly (readonly [name: string, text: string | undefined])[]): HTMLElement {
  const told = facts.filter(([, text]) => text);
  return element(
    'dl',
    { class: 'facts' },
    told.map(([name, text]) => element('div', element('dt', name), element('dd', text))),
  );
}

/** A table that scrolls by itself. What is no cell becomes one. */
export function tableElement(
  label: string,
  head: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const cell = (content: Child) =>
    content instanceof HTMLTableCellElement ? content : element('td', content);
  return element(
    'div',
    { class: 'wide', tabindex: '0', role: 'region', 'aria-label': label },
    element(
      'table',
      element(
        'thead',
        element(
          'tr',
          head.map((text) => element('th', { scope: 'col' }, text)),
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

/** Shows what part of the rows ended with which outcome, and what part did not end yet. It is to be told in words besides. */
export function outcomeBar(counts: OutcomeCounts, rest: number, label?: string): HTMLElement {
  const shares = [...outcomes.map((outcome) => [outcome, counts[outcome]] as const), ['rest', rest] as const];
  const parts = shares
    .filter(([, rows]) => rows > 0)
    .map(([name, rows]) => {
      const part = element('span', { class: name });
      part.style.flexGrow = String(rows);
      return part;
    });
  const told = label === undefined ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': label };
  return element('div', { class: 'bar', ...told }, parts);
}

/** `not_attempted` as `not attempted` */
export function outcomeText(outcome: string): string {
  return outcome.replace('_', ' ');
}

/**
 * Gives an element these children in place of its own. Those that are as before stay, with what the reader has selected in
 * them; new ones may be among them that were there before. The keyboard stays where it is, by the `id` of its element.
 */
export function redraw(place: Element, ...children: readonly Child[]): void {
  const focused = place.contains(document.activeElement) ? document.activeElement?.id : undefined;
  const nodes = nodesOf(children);
  for (const [index, node] of nodes.entries()) {
    const old = place.childNodes[index];
    if (old === node) continue;
    if (old === undefined) place.append(node);
    else if (node.parentNode === place) place.insertBefore(node, old);
    else if (!old.isEqualNode(node)) old.replaceWith(node);
  }
  for (const old of [...place.childNodes].slice(nodes.length)) old.remove();
  if (focused && document.activeElement?.id !== focused)
    document.getElementById(focused)?.focus({ preventScroll: true });
}

/** Hands a text to the reader as a file. */
export function download(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  element('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
