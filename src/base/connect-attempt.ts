/** How long a connection may take, to any server. */
export const connectMs = 5_000;

/**
 * How long one address of a name with several may take, in milliseconds. Node's default of 250 ms drops an address that is fine and far
 * away. Two addresses that do not answer leave time for a third one, and a lost packet is sent again within this time.
 */
export function attemptMs(timeoutMs: number): number {
  return Math.ceil(timeoutMs / 3);
}

/** The options of undici that limit the time of a connection. */
export function connectWithin(timeoutMs: number) {
  return { timeout: timeoutMs, autoSelectFamilyAttemptTimeout: attemptMs(timeoutMs) };
}
