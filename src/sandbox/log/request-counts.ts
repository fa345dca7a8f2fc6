import type { RequestRecord } from './log-entry.ts';

/** Counts of requests by what became of them. */
export class RequestCounts {
  #requests = 0;
  #committed = 0;
  #throttled = 0;
  readonly #byOperation = new Map<string, number>();
  readonly #byStatus = new Map<string, number>();
  readonly #byCode = new Map<string, number>();
  readonly #byFault = new Map<string, number>();

  add({ operation, code, fault, committed, throttled }: RequestRecord): void {
    this.#requests++;
    if (committed) this.#committed++;
    if (throttled) this.#throttled++;
    increment(this.#byOperation, operation ?? 'none');
    if (code !== undefined) increment(this.#byCode, code);
    if (fault !== undefined) increment(this.#byFault, fault);
  }

  addStatus(status: number): void {
    increment(this.#byStatus, String(status));
  }

  toJSON() {
    return {
      requests: this.#requests,
      committed: this.#committed,
      throttled: this.#throttled,
      by_operation: Object.fromEntries(this.#byOperation),
      by_status: Object.fromEntries(this.#byStatus),
      by_code: Object.fromEntries(this.#byCode),
      by_fault: Object.fromEntries(this.#byFault),
    };
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
