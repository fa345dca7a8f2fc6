import { expect, test } from 'vitest';
import { Pointer } from '../../../src/pages/browser/dashboard/pointer.ts';

test('drawing waits while a button is down, and then shows everything', async () => {
  const target = new EventTarget();
  const pointer = new Pointer(target);
  const drawn: string[] = [];
  pointer.whenReleased(() => drawn.push('at once'));
  target.dispatchEvent(new Event('pointerdown'));
  // The list and the rows of a run are drawn separately.
  for (const what of ['list', 'rows']) pointer.whenReleased(() => drawn.push(what));
  expect(drawn).toEqual(['at once']);
  target.dispatchEvent(new Event('pointerup'));
  await expect.poll(() => drawn).toEqual(['at once', 'list', 'rows']);
});
