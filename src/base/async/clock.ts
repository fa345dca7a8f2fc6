// Rounded, so that differences do not depend on a fraction of a millisecond.
const startedAt = Math.floor(performance.timeOrigin);

/**
 * Milliseconds since 1970 UTC by a clock that never jumps: it does not follow corrections of the system's clock. For waiting, durations and
 * ages.
 */
export function steadyNow(): number {
  return Math.floor(preciseNow());
}

export function preciseNow(): number {
  return startedAt + performance.now();
}

export function timeOfDay(steadyAt: number): Date {
  return new Date(Date.now() + steadyAt - steadyNow());
}

/** @param timeOfDayMs milliseconds since 1970 */
export function steadyTimeOf(timeOfDayMs: number): number {
  return steadyNow() + timeOfDayMs - Date.now();
}

const clockCheckMs = 100;
/** Synchronization corrects clocks by less. */
const noticeableMs = 500;

export function watchClock(onSet: (byMs: number) => void): { close(): void } {
  let lastOffset = clockOffset();
  const timer = setInterval(() => {
    const now = clockOffset();
    const byMs = Math.round(now - lastOffset);
    lastOffset = now;
    if (Math.abs(byMs) > noticeableMs) onSet(byMs);
  }, clockCheckMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

function clockOffset(): number {
  return Date.now() - performance.now();
}
