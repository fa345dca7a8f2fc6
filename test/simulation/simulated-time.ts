import type { World } from './world.ts';

interface Timer {
  cancelled: boolean;
  ref(): Timer;
  unref(): Timer;
  hasRef(): boolean;
  refresh(): Timer;
  [Symbol.toPrimitive](): number;
  [Symbol.dispose](): void;
}

/** Gives all code of this thread the timers, clocks and random numbers of a world, while that is played. */
export async function inTimeOf<Result>(world: World, play: () => Promise<Result>): Promise<Result> {
  const { setTimeout, clearTimeout, setInterval, clearInterval, Date: RealDate } = globalThis;
  const { now } = performance;
  const { random } = Math;
  const { timeout } = AbortSignal;

  function timer(
    work: (...args: unknown[]) => void,
    ms: unknown,
    args: unknown[],
    isRepeated: boolean,
  ): Timer {
    const delayMs = Math.max(1, Math.trunc(Number(ms)) || 1);
    const handle: Timer = {
      cancelled: false,
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => handle,
      [Symbol.toPrimitive]: () => 1,
      [Symbol.dispose]: () => {
        handle.cancelled = true;
      },
    };
    const begin = (): void => {
      world.later(delayMs, () => {
        if (handle.cancelled) return;
        if (isRepeated) begin();
        work(...args);
      });
    };
    begin();
    return handle;
  }
  const cancel = (handle: unknown): void => {
    if (typeof handle === 'object' && handle !== null) (handle as Timer).cancelled = true;
  };

  class SimulatedDate extends RealDate {
    constructor(...args: [] | [number | string | Date]) {
      if (args.length === 0) super(world.timeOfDay);
      else super(...(args as [number]));
    }
    static override now(): number {
      return Math.floor(world.timeOfDay);
    }
  }

  Object.assign(globalThis, {
    setTimeout: (work: () => void, ms: unknown, ...args: unknown[]) => timer(work, ms, args, false),
    setInterval: (work: () => void, ms: unknown, ...args: unknown[]) => timer(work, ms, args, true),
    clearTimeout: cancel,
    clearInterval: cancel,
    Date: SimulatedDate,
  });
  performance.now = () => world.now;
  Math.random = () => world.random.next();
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    world.later(ms, () => controller.abort(new Error('The time is over.')));
    return controller.signal;
  };
  try {
    return await play();
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, Date: RealDate });
    performance.now = now;
    Math.random = random;
    AbortSignal.timeout = timeout;
  }
}
