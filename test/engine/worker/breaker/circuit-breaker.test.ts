import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CircuitBreaker } from '../../../../src/engine/worker/breaker/circuit-breaker.ts';
import type { Blame, BreakerHalt, Trouble } from '../../../../src/engine/worker/breaker/health-evidence.ts';
import { failing } from '../answers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function trouble(cause: Trouble['cause'], changes: Partial<Trouble> = {}): Trouble {
  const { failure } = failing({});
  return { kind: 'trouble', cause, row: 1, path: '/restore', failure, isRepeated: false, ...changes };
}

const answered = { kind: 'answered' } as const;
/** While rows wait to be claimed, a breaker does not conclude that it has seen everything. */
const others = 1_000;

function begin({ proven = true, maxOutageMs }: { proven?: boolean; maxOutageMs?: number } = {}) {
  const halts: BreakerHalt[] = [];
  const breaker = new CircuitBreaker({ maxOutageMs, onChange() {}, onHalt: (halt) => halts.push(halt) });
  if (proven) void breaker.assess(answered);
  for (let row = 0; row < others; row += 1) breaker.begin();
  /** Makes this many calls with this sign; the blame of each comes when it is decided. */
  const meet = (sign: Trouble, calls = 1): Blame[] => {
    const blames: Blame[] = [];
    for (let call = 0; call < calls; call += 1) {
      void Promise.resolve(breaker.assess(sign)).then((blame) => blames.push(blame));
    }
    return blames;
  };
  /** No other row is left to be called. */
  const runOut = (held: number): void => {
    for (let row = 0; row < others - held; row += 1) breaker.end();
  };
  return { breaker, halts, meet, runOut };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the outage that is shown', () => {
  test.each([true, false])(
    'begins when rows have waited for their verdicts for seconds (proven: %s)',
    async (proven) => {
      const { breaker, meet } = begin({ proven });
      meet(trouble('target'), 3);
      await pass(3_900);
      expect(breaker.outage).toBeUndefined();
      await pass(200);
      expect(breaker.outage).toMatchObject({ trouble: { cause: 'target' }, testMs: 0 });
      void breaker.assess(answered);
      expect(breaker.outage).toBeUndefined();
    },
  );
});

describe('a row that fails', () => {
  test.each(['target', 'either'] as const)('is to blame when others are answered (%s)', async (cause) => {
    const { breaker, meet } = begin();
    const blames = meet(trouble(cause), 3);
    await pass(1_900);
    expect(blames).toEqual([]);
    expect(breaker.assess(answered)).toBe('row');
    await pass(0);
    expect(blames).toEqual(['row', 'row', 'row']);
  });

  test('with a path in doubt is to blame at once when any call was ever answered', () => {
    const { breaker } = begin();
    expect(breaker.assess(trouble('path'))).toBe('row');
  });
});

describe('an outage', () => {
  test.each<[string, Trouble, number, number]>([
    ['many calls fail within two seconds', trouble('either'), 20, 2_000],
    ['several fail over ten', trouble('either'), 5, 10_000],
  ])('begins when %s', async (_title, sign, calls, ms) => {
    const { breaker, meet } = begin();
    const blames = meet(sign, calls);
    await pass(ms - 1);
    expect(blames).toEqual([]);
    expect(breaker.prefetchLimit(50, 50)).toBeGreaterThan(50);
    await pass(1);
    expect(blames).toEqual(Array(calls).fill('target'));
    expect(breaker.outage?.trouble).toBe(sign);
    expect(breaker.prefetchLimit(50, 50)).toBe(1);
  });

  test('lets single calls test whether it is over, less and less often', async () => {
    const { breaker, meet } = begin();
    meet(trouble('target'), 20);
    await pass(2_000);
    const tests: number[] = [];
    let at = 2_000;
    for (let n = 0; n < 18; n += 1) {
      const { testMs = 0 } = breaker.outage ?? {};
      const test = breaker.admit();
      expect(await breaker.admit()).toBe(false);
      await pass(Math.ceil(testMs));
      expect(await test).toBe(true);
      at += testMs;
      tests.push(Math.round(testMs));
      expect(breaker.assess(trouble('target'))).toBe('target');
    }
    expect(tests[0]).toBe(1_000);
    expect(tests).toEqual([...tests].sort((a, b) => a - b));
    expect(tests.at(-1)).toBe(15_000);
    expect(at).toBeGreaterThan(60_000);
  });

  test('is over with the first answer; rows in hand then double with each round of answers', async () => {
    const { breaker, meet } = begin();
    meet(trouble('target'), 20);
    await pass(2_000);
    expect(breaker.assess(answered)).toBe('row');
    expect([breaker.outage, breaker.prefetchLimit(50, 50)]).toEqual([undefined, 2]);
    for (let round = 0; round < 2; round += 1) void breaker.assess(answered);
    expect(breaker.prefetchLimit(50, 50)).toBe(4);
    for (let round = 0; round < 200; round += 1) void breaker.assess(answered);
    expect(breaker.prefetchLimit(500, 500)).toBe(500);
  });

  test('is to blame for calls that began before its end and fail later, and for no later call', async () => {
    const { breaker, meet } = begin();
    const before = breaker.endedOutages;
    meet(trouble('either'), 20);
    await pass(2_000);
    expect(breaker.assess(answered)).toBe('row');
    expect(breaker.assess(trouble('either'), before)).toBe('target');
    // Such failures begin no outage: what counts is what the API does now.
    for (let call = 0; call < 20; call += 1) void breaker.assess(trouble('either'), before);
    await pass(10_000);
    expect(breaker.outage).toBeUndefined();
    const blames = meet(trouble('either'));
    void breaker.assess(answered);
    await pass(0);
    expect(blames).toEqual(['row']);
  });

  test('that lasts longer than the user allows halts', async () => {
    const { breaker, halts, meet } = begin({ maxOutageMs: 60_000 });
    meet(trouble('target'), 20);
    await pass(59_999);
    expect(halts).toEqual([]);
    void breaker.assess(trouble('target'));
    const test = breaker.admit();
    await pass(1);
    expect(halts).toMatchObject([{ because: 'outage', path: '/restore', calls: 21, lastedMs: 60_000 }]);
    expect(await test).toBe(false);
    expect(breaker.assess(answered)).toBe('halted');
  });
});

test.each<[proven: boolean, cause: Trouble['cause'], calls: number, repeated: boolean, blame: Blame]>([
  [true, 'target', 1, false, 'target'],
  [true, 'either', 5, false, 'target'],
  [true, 'either', 4, false, 'row'],
  [true, 'either', 30, true, 'row'],
  [false, 'target', 1, false, 'halted'],
  [false, 'path', 1, false, 'halted'],
  [false, 'unread', 1, false, 'halted'],
  [false, 'done', 1, false, 'halted'],
  [false, 'either', 5, false, 'halted'],
  [false, 'either', 4, false, 'row'],
])('with no other row left, proven: %s, "%s", calls: %d, repeated: %s: to blame is %s', async (...row) => {
  const [proven, cause, calls, repeated, blame] = row;
  const { breaker, halts, meet, runOut } = begin({ proven });
  const blames = meet(trouble(cause, { isRepeated: repeated }), calls);
  runOut(calls);
  await pass(proven ? 1_000 : 5_000);
  expect(blames).toEqual(Array(calls).fill(blame));
  await pass(10_000);
  expect(breaker.outage !== undefined).toBe(blame === 'target');
  expect(halts).toHaveLength(blame === 'halted' ? 1 : 0);
});

describe('an API of which nothing is known yet', () => {
  test.each(['target', 'either', 'path'] as const)('has 20 calls to answer one (%s)', async (cause) => {
    const { breaker, halts, meet } = begin({ proven: false });
    expect([breaker.prefetchLimit(3, 50), breaker.prefetchLimit(3, 2)]).toEqual([5, 2]);
    const blames = meet(trouble(cause), 19);
    await pass(0);
    expect(breaker.prefetchLimit(3, 50)).toBe(20);
    expect([blames, halts]).toEqual([[], []]);
    meet(trouble(cause));
    await pass(0);
    expect(blames).toEqual(Array(19).fill('halted'));
    expect(halts).toMatchObject([{ because: 'unproven', calls: 20 }]);
    expect(await breaker.admit()).toBe(false);
  });

  const unclear = failing({ unclear: true, status: 200 }).failure;

  test.each(['either', 'unread'] as const)(
    'has 5 calls in all that may have been processed, those in flight included (%s)',
    async (cause) => {
      const { breaker, halts, meet } = begin({ proven: false });
      const blames = meet(trouble('either'), 2);
      meet(trouble(cause, { failure: unclear, row: 7 }), 4);
      await pass(0);
      expect([blames, halts, breaker.prefetchLimit(3, 50)]).toEqual([[], [], 6 + 1]);
      meet(trouble(cause, { failure: unclear, isRepeated: true }));
      await pass(0);
      expect(blames).toEqual(['halted', 'halted']);
      expect(halts).toMatchObject([{ because: 'unproven', failure: unclear, rowToSee: 7 }]);
    },
  );

  test('has half a minute to answer one', async () => {
    const { breaker, halts, meet } = begin({ proven: false });
    await breaker.admit();
    const blames = meet(trouble('path'), 3);
    await pass(29_999);
    expect(halts).toEqual([]);
    await pass(1);
    expect(blames).toEqual(['halted', 'halted', 'halted']);
    expect(halts).toHaveLength(1);
  });

  test('without a trusted certificate is not called again', async () => {
    const { halts, meet } = begin({ proven: false });
    meet(trouble('target', { failure: failing({ code: 'TLS_ERROR' }).failure }));
    expect(halts).toHaveLength(1);
  });

  test('is proven by one answer, and rows then fail by themselves', async () => {
    const { breaker, halts, meet } = begin({ proven: false });
    const blames = meet(trouble('path'), 10);
    void breaker.assess(answered);
    await pass(60_000);
    expect(blames).toEqual(Array(10).fill('row'));
    expect(halts).toEqual([]);
    expect(breaker.prefetchLimit(50, 50)).toBe(50);
  });
});

describe('an API that answers, while no row of an operation has succeeded', () => {
  const succeeded = { kind: 'answered', isSuccess: true } as const;

  test("halts at the 5th success that can't be read; one that can be read resets the count", () => {
    const { breaker, halts, meet } = begin();
    meet(trouble('unread'), 4);
    expect(breaker.prefetchLimit(50, 50)).toBe(1);
    void breaker.assess(answered);
    expect(breaker.prefetchLimit(50, 50)).toBe(1);
    void breaker.assess(succeeded);
    expect(breaker.prefetchLimit(50, 50)).toBe(50);
    meet(trouble('unread'), 4);
    expect(halts).toEqual([]);
    expect(breaker.assess(trouble('unread'))).toBe('halted');
    expect(halts).toMatchObject([{ because: 'unproven', calls: 5 }]);
  });

  test('holds refusals that would mean "done" until one succeeds', async () => {
    const { breaker, halts, meet } = begin();
    const blames = meet(trouble('done'), 19);
    void breaker.assess(answered);
    await pass(60_000);
    expect([blames, halts]).toEqual([[], []]);
    void breaker.assess(succeeded);
    await pass(0);
    expect([blames, halts]).toEqual([Array(19).fill('row'), []]);
  });

  test.each([
    ['20 of them', 20, 0],
    ['nothing else is left', 3, 3],
  ])('halts at such refusals: %s', async (_title, calls, left) => {
    const { halts, meet, runOut } = begin();
    const blames = meet(trouble('done', { row: 7 }), calls);
    if (left > 0) runOut(left);
    await pass(1_000);
    expect(blames).toEqual(Array(calls).fill('halted'));
    expect(halts).toMatchObject([{ because: 'unproven', cause: 'done', calls, rowToSee: 7 }]);
  });
});

describe('an API that others know', () => {
  test('is away when its first calls here fail, and is called again when it is back', async () => {
    const { breaker, halts, meet } = begin({ proven: false });
    breaker.prove();
    const blames = meet(trouble('target'), 20);
    await pass(2_000);
    expect([blames, halts]).toEqual([Array(20).fill('target'), []]);
    const test = breaker.admit();
    await pass(15_000);
    expect(await test).toBe(true);
    expect([breaker.assess(answered), breaker.admit()]).toEqual(['row', true]);
  });
});

describe('an API that refuses every call', () => {
  const minute = 60_000;
  const refused = (status: 429 | 503) => {
    const { failure } = failing({ code: 'RESOURCE_EXHAUSTED', status });
    return { kind: 'refused', path: '/restore', failure } as const;
  };
  /** One refusal each time this is over. */
  const refuse = async (breaker: CircuitBreaker, everyMs: number, times: number, status: 429 | 503 = 429) => {
    for (let time = 0; time < times; time += 1) {
      void breaker.assess(refused(status));
      await pass(everyMs);
    }
  };

  test.each([429, 503] as const)(
    'with %d for longer than the user allows halts the worker',
    async (status) => {
      const { breaker, halts } = begin({ maxOutageMs: 15 * minute });
      await refuse(breaker, 1_000, 15 * 60 + 1, status);
      expect(halts).toEqual([]);
      await refuse(breaker, 1_000, 1, status);
      expect(halts).toMatchObject([{ because: 'refusals', path: '/restore', lastedMs: 15 * minute + 1_000 }]);
      expect(await breaker.admit()).toBe(false);
    },
  );

  test('halts no worker once a call is accepted, nor without a limit', async () => {
    const { breaker, halts } = begin({ maxOutageMs: 15 * minute });
    await refuse(breaker, 1_000, 800);
    void breaker.assess(answered);
    await refuse(breaker, 1_000, 800);
    const unlimited = begin();
    await refuse(unlimited.breaker, 1_000, 10_000);
    expect([halts, unlimited.halts]).toEqual([[], []]);
  });

  test('may ask for long pauses, of which each counts as a minute', async () => {
    const { breaker, halts } = begin({ maxOutageMs: 15 * minute });
    await refuse(breaker, 60 * minute, 16);
    expect(halts).toEqual([]);
    await refuse(breaker, 60 * minute, 1);
    expect(halts).toMatchObject([{ because: 'refusals', calls: 17 }]);
  });
});

describe('a breaker that is closed', () => {
  test('holds nothing back, and admits no call', async () => {
    const { breaker, meet } = begin({ proven: false });
    const blames = meet(trouble('target'), 2);
    breaker.close();
    await pass(0);
    expect(blames).toEqual(['halted', 'halted']);
    expect(await breaker.admit()).toBe(false);
    expect([breaker.assess(trouble('path')), breaker.assess(trouble('either'))]).toEqual(['halted', 'row']);
  });
});
