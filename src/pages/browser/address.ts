/** What the reader looks at, in the fragment of the address, so that a link shows the same. */
export class Address {
  readonly #onChange: () => void;

  /** @param onChange called when the reader goes back or forward */
  constructor(signal: AbortSignal, onChange: () => void) {
    this.#onChange = onChange;
    addEventListener('popstate', () => this.#onChange(), { signal });
  }

  read(name: string): string {
    return parameters().get(name) ?? '';
  }

  /**
   * Writes values; an empty one is left out.
   *
   * @param isStep whether the reader can go back to the values before
   */
  write(values: Readonly<Record<string, string>>, isStep: boolean): void {
    const written = parameters();
    for (const [name, value] of Object.entries(values))
      if (value === '') written.delete(name);
      else written.set(name, value);
    const hash = `#${written}`;
    if (hash === `#${parameters()}`) return;
    if (isStep) history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
  }
}

function parameters(): URLSearchParams {
  const hash = location.hash.slice(1);
  // A fragment without values is the `id` of an element.
  return new URLSearchParams(hash.includes('=') ? hash : '');
}
