import { setTimeout as pause } from 'node:timers/promises';

/** A promise and the function that resolves it. Node 20 has no `Promise.withResolvers`. */
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

export const neverAborted: AbortSignal = new AbortController().signal;

/** Resolves after a time. The timer does not keep the process alive by itself. */
export function after(milliseconds: number): Promise<void> {
  const { promise, resolve } = deferred();
  setTimeout(resolve, milliseconds).unref();
  return promise;
}

/** Waits for a promise. Gives undefined once `limitMs` have passed, and then ignores even a rejection. Default: no limit. */
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

/** Waits for a promise. Gives undefined as soon as the signal aborts, and then ignores even a rejection. */
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

/** Resolves when the signal aborts, at once if it has aborted already. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = deferred();
  onAbort(signal, () => resolve());
  return promise;
}

/** Calls back when the signal aborts, at once if it has aborted already. Returns a function that cancels the callback. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

const lookEveryMs = 200;

/** Asks every 200 ms until `look` returns a value; undefined if it returns none for `forMs`. */
export async function poll<Value>(
  forMs: number,
  look: () => Promise<Value | undefined>,
): Promise<Value | undefined> {
  for (const until = performance.now() + forMs; performance.now() < until; await pause(lookEveryMs)) {
    const value = await look();
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Works on one key in the order of the calls, never twice at the same time. */
export function turnsByKey(): <Value>(key: string, work: () => Promise<Value>) => Promise<Value> {
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
