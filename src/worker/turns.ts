/** By how much of its spacing a call goes out sooner or later, so that the next one is nearer to its worker's turn. */
export const mostShift = 0.1;

/**
 * Whose turn it is among workers that each keep an equal part of a rate. What each of them spaces evenly is even together
 * only where each calls between the calls of the others. They tell by the clocks of their machines: where those differ,
 * it is by chance how even that is.
 */
export class Turns {
  #at: number;
  #roundMs = 1;

  constructor(now: number) {
    this.#at = now;
  }

  /**
   * Turns go on evenly when the rate changes.
   *
   * @param rate calls per second of all workers
   * @returns when it was the first worker's turn, by the same clock as `now`
   */
  update(now: number, rate: number, workers: number): number {
    this.#at += Math.floor((now - this.#at) / this.#roundMs) * this.#roundMs;
    this.#roundMs = (workers * 1_000) / rate;
    return this.#at;
  }
}

/** When it was the turn of a worker, by that of the first. */
export function turnOf(place: number, firstAt: number, rate: number): number {
  return firstAt + (place * 1_000) / rate;
}

/** When a call is to go out that would at some time, so that it is nearer to a turn of its worker. */
export function nearerToTurn(at: number, turnAt: number, spacingMs: number): number {
  const turns = Math.round((at - turnAt) / spacingMs);
  const late = at - turnAt - turns * spacingMs;
  const most = mostShift * spacingMs;
  return at - Math.min(Math.max(late, -most), most);
}
