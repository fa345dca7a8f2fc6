import { escapeInvisible } from '../../manifest/excerpt.ts';

/**
 * Text that is safe to print: whatever would move the cursor, change colours or turn the direction of the text is made
 * visible, as `\u001b`. Manifests and API answers are hostile input. Line feeds stay.
 */
export function printable(text: string): string {
  return text.split('\n').map(escapeInvisible).join('\n');
}
