import { describe, expect, test } from 'vitest';
import { ServerCap } from '../../../../src/engine/rate/governor/server-cap.ts';
import type { Traffic } from '../../../../src/engine/rate/governor/traffic.ts';
import { nothing } from './no-traffic.ts';

const stepMs = 100;
const reactionMs = 100;

/** A cap that is told how an API treats calls in flight, each of which takes 50 ms. */
function observed({ isStated = false, amongError = 1 } = {}) {
  const cap = new ServerCap(0);
  let now = 0;
  let limit = 50;
  const told = (traffic: Partial<Traffic>, sending = 100): number => {
    now += stepMs;
    const all = { ...nothing, amongError, ...traffic };
    limit = cap.step(now, cap.update(now, all, { limit, sentPerSecond: sending, reactionMs, isStated }));
    return limit;
  };
  return {
    cap,
    get limit() {
      return limit;
    },
    /** This many calls per second, all of them accepted. */
    fine(seconds: number, perSecond: number, among: number): void {
      for (let step = 0; step < seconds * 10; step += 1)
        told({ accepted: perSecond / 10, acceptedAmong: among }, perSecond);
    },
    refused(among: number, more: Partial<Traffic> = {}): number {
      return told({ rejected: 1, rejectedAmong: among, rejectedSentAt: now + stepMs, ...more });
    },
  };
}

describe('a cap on calls in flight', () => {
  test('is tried one below the first refusal, and known when no fewer calls are accepted', () => {
    const api = observed();
    api.fine(1, 80, 9);
    expect(api.refused(11)).toBe(10);
    api.fine(3, 190, 10);
    expect(api.cap.value).toBe(10);
  });

  test('is ruled out when fewer calls in flight mean fewer accepted calls', () => {
    const api = observed();
    api.fine(1, 80, 4);
    expect(api.refused(5)).toBe(4);
    api.fine(3, 60, 4);
    expect(api.cap.value).toBeUndefined();
    expect(api.limit).toBe(50);
  });

  test.each<[why: string, among: number, more: Partial<Traffic>]>([
    ['calls are refused among as few in flight', 10, {}],
    ['calls are refused among far fewer in flight', 5, { rejectedSentAt: 1_050 }],
    ['the API asks to wait for long', 11, { waitUntil: 60_000 }],
  ])('is ruled out when %s', (_, among, more) => {
    const api = observed();
    api.fine(1, 80, 9);
    api.refused(11);
    if (more.rejectedSentAt === undefined) api.fine(0.5, 190, 10);
    api.refused(among, more);
    expect(api.cap.value).toBeUndefined();
    expect(api.limit).toBe(50);
  });

  test('is not looked for where the API states what it limits', () => {
    const api = observed({ isStated: true });
    api.fine(1, 80, 9);
    expect(api.refused(11)).toBe(50);
    expect(api.cap.value).toBeUndefined();
  });

  test('is not suspected for a minute after a wrong suspicion', () => {
    const api = observed();
    api.fine(1, 80, 9);
    api.refused(11);
    api.fine(0.5, 190, 10);
    api.refused(10);
    api.fine(20, 80, 9);
    expect(api.refused(11)).toBe(50);
    api.fine(5, 80, 9);
    expect(api.refused(11)).toBe(50);
    api.fine(40, 80, 9);
    api.refused(11);
    api.fine(5, 80, 9);
    expect(api.refused(11)).toBe(10);
  });

  test('is raised when more calls are accepted, sooner the more are, and goes back at once when they are not', () => {
    const api = observed();
    api.fine(1, 80, 9);
    api.refused(11);
    api.fine(2, 190, 10);
    const limits = new Set<number>();
    for (let second = 0; second < 8; second += 1) {
      api.fine(1, 190, api.limit);
      limits.add(api.limit);
    }
    expect([...limits]).toEqual([10, 11, 13, 15, 18]);
    const tried = api.limit;
    api.fine(0.5, 190, 10);
    expect(api.refused(tried)).toBeLessThan(tried);
    expect(api.cap.value).toBe(api.limit);
  });
});
