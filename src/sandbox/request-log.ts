import { preciseNow } from '../base/async/clock.ts';

/** A request as `/sandbox/log` shows it. */
export interface LogEntry {
  /** The number of the request from 1, in the order in which requests arrived completely. */
  readonly seq: number;
  /** When the request arrived, ISO 8601 UTC. */
  readonly time: string;
  /** The operation. Null for other paths than the service's. */
  readonly operation: string | null;
  /** The method and the path of anything but a POST to one of the service's paths. */
  readonly target?: string;
  /** The identifier that the request names. Null for lists, and when the body could not be read. */
  readonly id: string | null;
  /** The number of the request, from 1, among those for the same thing that token and rate limit let through; null for others. */
  readonly nth: number | null;
  readonly user_id: string | null;
  readonly traceparent: string | null;
  readonly body?: string;
  /** The HTTP status. Null without an answer. */
  status: number | null;
  /** `OK` or the code of the refusal; null if a fault came before the decision. */
  readonly code: string | null;
  readonly committed: boolean;
  readonly fault: string | null;
  readonly throttled: boolean;
}

export type RequestRecord = Partial<Omit<LogEntry, 'seq' | 'time' | 'status'>>;

const limit = 1_000_000;

/** The log of requests, also of those that got no answer. */
export class RequestLog {
  /** The entries, oldest first. Too many entries lose their older half. */
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
