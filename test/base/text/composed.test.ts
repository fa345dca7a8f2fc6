import { expect, test } from 'vitest';
import { composed, sameTextAs } from '../../../src/base/text/composed.ts';
import { guardCell, unguardCell } from '../../../src/base/text/formula-guard.ts';

test.each(['José', 'Ångström', '각', 'plain'])('%s is the same text in each form', (text) => {
  for (const form of ['NFC', 'NFD'] as const) {
    expect(sameTextAs(text.normalize(form))(text.normalize('NFD'))).toBe(true);
    expect(composed(text.normalize(form))).toBe(text.normalize('NFC'));
  }
  expect(sameTextAs(text)(`${text}x`)).toBe(false);
});

test('a text that looks like the clear token is guarded, and comes back as it was', () => {
  const clearToken = '<löschen>';
  const text = clearToken.normalize('NFD');
  const guarded = guardCell(text, { clearToken });
  expect(sameTextAs(clearToken)(guarded)).toBe(false);
  expect(unguardCell(guarded, { clearToken })).toBe(text);
});
