/** The values in the fragment of the address, which say what the reader looks at, so that a link shows the same. */
export function readAddress(): URLSearchParams {
  const hash = location.hash.slice(1);
  // A fragment without values is the `id` of an element.
  return new URLSearchParams(hash.includes('=') ? hash : '');
}

/**
 * What the address says about a view.
 *
 * @param nothing the values that a view knows, as they are without an address
 * @param show the rows that are shown if the address has none of these values
 */
export function wantedByAddress<Wanted extends { readonly show: string }>(
  nothing: Wanted,
  show: string,
): Wanted {
  const address = readAddress();
  const known = Object.keys(nothing).filter((name) => address.has(name));
  return {
    ...nothing,
    show: known.length === 0 ? show : '',
    ...Object.fromEntries(known.map((name) => [name, address.get(name)])),
  };
}

/** Writes values into the address, without empty ones. @param isStep whether the reader can go back to the values before */
export function writeAddress(values: Readonly<Record<string, string>>, isStep: boolean): void {
  const written = readAddress();
  for (const [name, value] of Object.entries(values))
    if (value === '') written.delete(name);
    else written.set(name, value);
  if (`${written}` === `${readAddress()}`) return;
  if (isStep) history.pushState(null, '', `#${written}`);
  else history.replaceState(null, '', `#${written}`);
}
