/**
 * Text to compare: `José` in five code points, as macOS and some databases write it, looks like `José` in four. What is sent stays as it is.
 */
export function composed(text: string): string {
  return text.normalize('NFC');
}

export function isSameText(one: string, other: string): boolean {
  return one === other || composed(one) === composed(other);
}
