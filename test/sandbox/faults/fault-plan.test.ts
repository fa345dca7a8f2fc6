import { expect, test } from 'vitest';
import { drawFault } from '../../../src/sandbox/faults/fault-plan.ts';
import { parseFaults } from '../../../src/sandbox/options/faults.ts';

const key = { seed: 1, operation: 'restore-evaluation', id: '1', nth: 1 };

test('the same request always has the same lot', () => {
  const shares = parseFaults('--fault', 'reset=50%,500=50%');
  const lots = (): (string | undefined)[] =>
    Array.from({ length: 50 }, (_, nth) => drawFault(shares, { ...key, nth })?.name);
  expect(lots()).toEqual(lots());
  expect(new Set(lots())).toEqual(new Set(['reset', '500']));
});

test('each fault has its share of many requests', () => {
  const shares = parseFaults('--fault', 'reset=1%,timeout=5%,wrong-id=20%');
  const count = 20_000;
  const drawn = new Map<string | undefined, number>();
  for (let id = 1; id <= count; id++) {
    const name = drawFault(shares, { ...key, id: String(id) })?.name;
    drawn.set(name, (drawn.get(name) ?? 0) + 1);
  }
  for (const [name, share] of [
    ['reset', 0.01],
    ['timeout', 0.05],
    ['wrong-id', 0.2],
  ] as const) {
    const deviation = Math.sqrt(count * share * (1 - share));
    expect(Math.abs((drawn.get(name) ?? 0) - count * share), name).toBeLessThan(6 * deviation);
  }
});

test('no shares, no fault; a share of all, always that fault', () => {
  expect(drawFault(parseFaults('--fault', 'none'), key)).toBeUndefined();
  const all = parseFaults('--fault', 'malformed=100%');
  for (let nth = 1; nth <= 200; nth++) expect(drawFault(all, { ...key, nth })?.name).toBe('malformed');
});
