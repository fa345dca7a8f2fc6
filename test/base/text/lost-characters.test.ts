import { expect, test } from 'vitest';
import { hasLostCharacters, textBeforeMisreading } from '../../../src/base/text/lost-characters.ts';

test.each(['Gr\ufffde', 'a\ud83c', '\udfa7b'])('%j has lost characters', (text) => {
  expect(hasLostCharacters(text)).toBe(true);
});

/** As a program with a wrong setting reads UTF-8. */
const misread = (text: string): string =>
  new TextDecoder('windows-1252').decode(Buffer.from(text), { stream: true });

test.each([
  'Grüße',
  'straße',
  'São',
  'à la carte',
  'José Núñez',
  'it’s – “so”',
  'złoty',
  'Привет',
  'Ελλάδα',
  'déjà vu 10 €',
  '日本語',
])('%s is found though it was misread', (text) => {
  for (const damaged of [misread(text), Buffer.from(text).toString('latin1')])
    expect(textBeforeMisreading(damaged)).toBe(text);
  expect(textBeforeMisreading(text)).toBeUndefined();
});

test.each([
  'Grüße',
  'Ä',
  'MÜNCHEN – ÖL',
  '„Spaß“',
  'CAFÉ»',
  'Å…',
  'Âge',
  'Ça va ?',
  'VOILÀ\u00a0»',
  'naïve…',
  '½ ©',
  '🎧',
])('%s means itself', (text) => {
  expect(hasLostCharacters(text)).toBe(false);
  expect(textBeforeMisreading(text)).toBeUndefined();
});
