const asciiText = /^[\0-\x7f]*$/;

/**
 * Text to compare: `José` in five code points, as macOS and some databases write it, looks like `José` in four. What is sent stays as it is.
 */
export function composed(text: string): string {
  return asciiText.test(text) ? text : text.normalize('NFC');
}

/** Fast for many texts. */
export function sameTextAs(wanted: string): (text: string) => boolean {
  if (asciiText.test(wanted)) return (text) => text === wanted;
  const same = composed(wanted);
  return (text) => composed(text) === same;
}
