import { preciseNow } from '../base/async/clock.ts';

/** A request as `/sandbox/log` shows it. */
export interface LogEntry {
  /** From 1, in the order in which requests arrived completely. */
  readonly seq: number;
  /** ISO 8601 UTC. */
  readonly time: string;
  /** Null for other paths than the service's. */
  readonly operation: string | null;
  /** Method and path of anything but a POST to one of the service's paths. */
  readonly target?: string;
  /** Null for lists, and when the body could not be read. */
  readonly id: string | null;
  /** From 1, among the requests for the identifier, page or list that token and rate limit let through; null for others. */
  readonly nth: number | null;
  readonly user_id: string | null;
  readonly traceparent: string | null;
  readonly body?: string;
  /** Null without an answer. */
  status: number | null;
  /** `OK` or the code of the refusal; null if a fault came before the decision. */
  readonly code: string | null;
  readonly committed: boolean;
  readonly fault: string | null;
  readonly throttled: boolean;
}

export type RequestRecord = Partial<Omit<LogEntry, 'seq' | 'time' | 'status'>>;

const limit = 1_000_000;

/** Includes requests without an answer. */
export class RequestLog {
  /** Oldest first. Too many entries lose their older half. */
  readonly entries: LogEntry[] = [];
  #requests = 0;

  /** The caller sets the returned entry's status when it sends the answer. */
  append(record: RequestRecord): LogEntry {
    this.#requests++;
    const entry = {
      seq: this.#requests,
      time: new Date(Math.round(preciseNow())).toISOString(),
      operation: null,
      id: null,
      nth: null,
      user_id: null,
      traceparent: null,
      status: null,
      code: null,
      committed: false,
      fault: null,
      throttled: false,
      ...record,
    };
    if (this.entries.length === limit) this.entries.splice(0, limit / 2);
    this.entries.push(entry);
    return entry;
  }
}
