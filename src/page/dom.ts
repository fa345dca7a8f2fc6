import { inReadingOrder } from '../text/printable.ts';

/** What an element has besides its text: attributes as they would be written; functions listen to events. */
type Properties = Readonly<Record<string, string | boolean | ((event: Event) => void) | undefined>>;

/** Makes an element. Texts become text, never markup, with controls that would change their order made visible. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, '');
    else if (typeof value === 'string') made.setAttribute(key, value);
  }
  made.append(...children.map((child) => (typeof child === 'string' ? inReadingOrder(child) : child)));
  return made;
}

/** Names and what stands under each; those under which nothing stands are left out. */
export function factList(facts: readonly (readonly [name: string, text: string])[]): HTMLElement {
  return element(
    'dl',
    { class: 'facts' },
    ...facts
      .filter(([, text]) => text !== '')
      .map(([name, text]) => element('div', {}, element('dt', {}, name), element('dd', {}, text))),
  );
}

/**
 * Gives an element these children in place of its own. Those that are as before stay, with what the reader has selected in
 * them; new ones may be among them that were there before. The keyboard stays where it is, by the `id` of its element.
 */
export function redraw(place: Element, ...children: readonly HTMLElement[]): void {
  const focused = place.contains(document.activeElement) ? document.activeElement?.id : undefined;
  for (const [index, child] of children.entries()) {
    const old = place.children[index];
    if (old === child) continue;
    if (old === undefined) place.append(child);
    else if (child.parentNode === place) place.insertBefore(child, old);
    else if (!old.isEqualNode(child)) old.replaceWith(child);
  }
  for (const old of [...place.children].slice(children.length)) old.remove();
  if (focused && document.activeElement?.id !== focused)
    document.getElementById(focused)?.focus({ preventScroll: true });
}

/** `not_attempted` as `not attempted` */
export function outcomeText(outcome: string): string {
  return outcome.replace('_', ' ');
}

/** Hands a text to the reader as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
