import { setTimeout as pause } from 'node:timers/promises';

/** A promise with the functions that settle it, which Node 20 does not offer. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
}

export function deferred<Value = void>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Never aborts. */
export const never: AbortSignal = new AbortController().signal;

/** Resolves after that time; does not keep the process alive by itself. */
export function after(milliseconds: number): Promise<void> {
  const { promise, resolve } = deferred();
  setTimeout(resolve, milliseconds).unref();
  return promise;
}

/**
 * What a promise resolves with, or undefined when that takes longer. Its outcome is then ignored, even a rejection.
 *
 * @param limitMs absent: it may take any time
 */
export async function withTimeout<Value>(
  promise: Promise<Value>,
  limitMs?: number,
): Promise<Value | undefined> {
  if (limitMs === undefined) return promise;
  const { promise: late, resolve } = deferred<undefined>();
  const timer = setTimeout(resolve, limitMs, undefined).unref();
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a promise resolves with, or undefined as soon as the signal aborts; otherwise like `withTimeout`. */
export async function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  const { promise: aborted, resolve } = deferred<undefined>();
  const forget = onAbort(signal, () => resolve(undefined));
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}

/** Resolves when the signal aborts, at once if it already has. */
export function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = deferred();
  // Resolves without the event of the abort.
  onAbort(signal, () => resolve());
  return promise;
}

/**
 * Calls back when the signal aborts, at once if it already has.
 *
 * @returns a function that cancels the callback
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

const lookEveryMs = 200;

/** Looks from time to time until there is something to see; undefined when nothing came for that time. */
export async function poll<Seen>(
  forMs: number,
  look: () => Promise<Seen | undefined>,
): Promise<Seen | undefined> {
  for (const until = performance.now() + forMs; performance.now() < until; await pause(lookEveryMs)) {
    const seen = await look();
    if (seen !== undefined) return seen;
  }
  return undefined;
}

/** Does work on the same key in the order of the calls, one after the other. */
export function turns(): <Value>(key: string, work: () => Promise<Value>) => Promise<Value> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    const forget = (): void => {
      if (last.get(key) === turn) last.delete(key);
    };
    turn.then(forget, forget);
    return turn;
  };
}
