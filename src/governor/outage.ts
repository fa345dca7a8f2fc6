import { testPause } from './test-pause.ts';
import type { Traffic } from './traffic.ts';

/** Times in which nobody takes connections. Single calls test when they end, less and less often. */
export class Outage {
  #since: number | undefined;
  #restUntil = 0;

  /** Until when no call is to be made; undefined when there is no outage. */
  get restUntil(): number | undefined {
    return this.#since === undefined ? undefined : this.#restUntil;
  }

  update(now: number, { accepted, rejected, unreachable = 0 }: Traffic): void {
    // What was under way when the rest began says nothing of its end.
    if (now < this.#restUntil) return;
    if (accepted + rejected > 0) this.#since = undefined;
    else if (unreachable > 0) {
      this.#since ??= now;
      this.#restUntil = now + testPause(now - this.#since);
    }
  }
}
