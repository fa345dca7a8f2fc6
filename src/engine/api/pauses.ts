const maxBackoffMs = 60_000;
const unknownWaitMs = 1_000;
const maxUnknownWaitMs = 30_000;
/** Without this, an API that asks for a wait of 0 would be called continuously. */
const leastWaitMs = 100;

/**
 * The pause after a transient failure; it doubles, up to a minute.
 *
 * @param failures so far, from 1
 * @param random from 0 to 1
 */
export function backoffAfter(failures: number, backoffMs: number, random: number): number {
  return Math.ceil(random * Math.min(backoffMs * 2 ** (failures - 1), maxBackoffMs));
}

/** When the API asks to slow down without a time; doubles with each refusal, up to 30 s. */
export function unstatedWaitMs(refusals: number): number {
  return Math.min(unknownWaitMs * 2 ** (refusals - 1), maxUnknownWaitMs);
}

export function statedWaitMs(ms: number): number {
  return Math.max(leastWaitMs, ms);
}
