import { expect, test } from 'vitest';
import { tabIcon } from '../../../../src/pages/browser/dashboard/tab-icon.ts';

const quiet = { done: undefined, needsPerson: false, isStale: false };

function drawing(signs: Partial<Parameters<typeof tabIcon>[0]> = {}): string {
  const [type, ...rest] = tabIcon({ ...quiet, ...signs }).split(',');
  expect(type).toBe('data:image/svg+xml');
  return decodeURIComponent(rest.join(','));
}

const red = '#e5484d';
const ring = (share: number): string => `stroke-dasharray="${(share * 2 * Math.PI * 12).toFixed(1)} `;

test('the icon of the tab has a ring as long as the share of finished rows, only while a run is in progress', () => {
  for (const done of [0, 0.42, 1]) expect(drawing({ done })).toContain(ring(done));
  expect(drawing()).not.toContain('stroke-dasharray');
});

test('the icon has a red dot while something needs a person', () => {
  expect(drawing({ needsPerson: true })).toContain(red);
  expect(drawing({ done: 0.5, needsPerson: true })).toContain(red);
  expect(drawing({ done: 0.5 })).not.toContain(red);
});

test('the icon is gray while the dashboard does not answer', () => {
  const color = (svg: string) => /<rect [^>]*fill="([^"]+)"/.exec(svg)?.[1];
  expect(color(drawing({ isStale: true }))).toBe('#7d8790');
  expect(color(drawing())).not.toBe('#7d8790');
});
