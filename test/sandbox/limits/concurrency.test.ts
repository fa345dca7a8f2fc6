import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Concurrency } from '../../../src/sandbox/limits/concurrency.ts';

test('a refusal tells no waiting time, as nobody knows it', () => {
  const limiter = new Concurrency({ kind: 'concurrency', limit: 1 });
  limiter.admit();
  expect(limiter.admit()).toEqual({
    admitted: false,
    allowance: { policy: { quota: 1, capacity: 1, unit: 'concurrent-requests' }, remaining: 0 },
  });
});

test('never more than the limit are in flight, every release makes room for one, and only the first counts', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      // A number releases one of those in flight; the releases of the others are called once more now and then.
      fc.array(fc.oneof(fc.constant('arrives' as const), fc.nat(10)), { maxLength: 200 }),
      (limit, events) => {
        const limiter = new Concurrency({ kind: 'concurrency', limit });
        const inFlight: (() => void)[] = [];
        let released: (() => void) | undefined;
        for (const event of events) {
          if (event === 'arrives') {
            const admission = limiter.admit();
            expect(admission.admitted).toBe(inFlight.length < limit);
            if (admission.admitted && admission.release) inFlight.push(admission.release);
            expect(admission.allowance?.remaining).toBe(limit - inFlight.length);
          } else {
            released?.();
            [released] = inFlight.splice(event % Math.max(1, inFlight.length), 1);
            released?.();
          }
        }
        for (const release of inFlight) release();
        const whole = Array.from({ length: limit }, () => limiter.admit().admitted);
        expect(whole).not.toContain(false);
        expect(limiter.admit().admitted).toBe(false);
      },
    ),
  );
});
