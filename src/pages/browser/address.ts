/** The fragment of the address says what the reader looks at, so that a link shows the same. */
export function readAddress(): URLSearchParams {
  const hash = location.hash.slice(1);
  // A fragment without values is the `id` of an element.
  return new URLSearchParams(hash.includes('=') ? hash : '');
}

/** Leaves out empty values. @param isStep whether the reader can go back to the values before */
export function writeAddress(values: Readonly<Record<string, string>>, isStep: boolean): void {
  const written = readAddress();
  for (const [name, value] of Object.entries(values))
    if (value === '') written.delete(name);
    else written.set(name, value);
  if (`${written}` === `${readAddress()}`) return;
  if (isStep) history.pushState(null, '', `#${written}`);
  else history.replaceState(null, '', `#${written}`);
}
