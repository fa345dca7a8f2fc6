import { hash } from 'node:crypto';
import { preciseNow } from '../clock.ts';
import type { OperationName } from './service/operations.ts';

/** What the log keeps of request bodies. `text` costs the memory of the bodies. */
export const logBodies = ['sha256', 'text', 'none'] as const;
type LogBody = (typeof logBodies)[number];

/** A request as the service saw it and what became of it, as far as it came. */
export interface RequestRecord {
  /** Absent when the request was for none of the service's paths. */
  readonly operation?: OperationName | undefined;
  /** Method and path, when the request was not a POST to one of the service's paths. */
  readonly target?: string | undefined;
  /** Decimal identifier; absent when the body could not be read. */
  readonly id?: string | undefined;
  /** How many requests for the identifier were admitted so far; absent when this one was not. */
  readonly nth?: number | undefined;
  readonly userId?: string | undefined;
  readonly body?: Buffer | undefined;
  /** What the service decided: `OK` or the code of its refusal. Absent when a fault came before that. */
  readonly code?: string | undefined;
  /** Whether the request made a change. */
  readonly committed?: boolean;
  readonly fault?: string | undefined;
  /** Whether the rate limit refused the request. */
  readonly throttled?: boolean;
}

/** A line of the log, as `/sandbox/log` shows it. */
export interface LogEntry {
  /** Number of the request, from 1, in the order in which requests arrived completely. */
  readonly seq: number;
  /** ISO 8601 UTC. */
  readonly time: string;
  readonly operation: OperationName | null;
  /** Method and path, when the request was not a POST to one of the service's paths. */
  readonly target?: string;
  /** Decimal identifier; `null` when the body could not be read. */
  readonly id: string | null;
  /** From 1, counting the requests for the identifier that token and rate limit let through; `null` for others. */
  readonly nth: number | null;
  readonly user_id: string | null;
  /** The request's body as received. */
  readonly body?: string;
  /** SHA-256 of the request's body in hexadecimal. */
  readonly body_sha256?: string;
  /** HTTP status that was sent; `null` when no answer was sent (yet). */
  readonly status: number | null;
  /** What the service decided: `OK` or the code of its refusal; `null` when a fault came before that. */
  readonly code: string | null;
  /** Whether the request made a change. */
  readonly committed: boolean;
  readonly fault: string | null;
  /** Whether the rate limit refused the request. */
  readonly throttled: boolean;
}

export interface RequestLogSettings {
  /** How many entries are kept; the oldest go first. */
  readonly limit: number;
  readonly body: LogBody;
}

/** Counts of requests by what became of them. */
export interface RequestCounts {
  requests: number;
  /** Requests that made a change. */
  committed: number;
  /** Requests that the rate limit refused. */
  throttled: number;
  readonly by_operation: Record<string, number>;
  /** Requests that were answered, by HTTP status. */
  readonly by_status: Record<string, number>;
  readonly by_code: Record<string, number>;
  readonly by_fault: Record<string, number>;
}

/** Tells the log that an answer with that status was sent. */
export type Sent = (status: number) => void;

/** Every request that reached the service, answered or not. Entries are kept small: there may be millions. */
export class RequestLog {
  readonly #settings: RequestLogSettings;
  readonly #start = preciseNow();
  /** The request `seq` is at `(seq - 1) % limit`. */
  #entries: StoredEntry[] = [];
  #count = 0;
  #counts = noRequests();
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(settings: RequestLogSettings) {
    this.#settings = settings;
  }

  /** Adds a request; the returned function is to be called when its answer is sent. */
  append(record: RequestRecord): Sent {
    // One shape for all entries, small integers and short strings: about 200 bytes.
    const entry: StoredEntry = {
      elapsed: Math.round(preciseNow() - this.#start),
      operation: record.operation,
      target: record.target,
      id: record.id,
      nth: record.nth,
      userId: record.userId,
      body: this.#storedBody(record.body),
      status: 0,
      code: record.code,
      committed: record.committed ?? false,
      fault: record.fault,
      throttled: record.throttled ?? false,
    };
    this.#entries[this.#count % this.#settings.limit] = entry;
    this.#count++;
    const counts = this.#counts;
    count(counts, record);
    if (this.#waiting.length > 0) this.#wake();
    return (status) => {
      entry.status = status;
      increment(counts.by_status, String(status));
    };
  }

  /** The entries that are kept, oldest first, from after the request `after`. */
  *entries(after = 0): Generator<LogEntry> {
    const last = this.#count;
    for (let seq = Math.max(after, last - this.#entries.length) + 1; seq <= last; seq++) {
      // While somebody reads, entries may be replaced, or all forgotten.
      const isKept = seq > this.#count - this.#entries.length && seq <= this.#count;
      const entry = isKept ? this.#entries[(seq - 1) % this.#settings.limit] : undefined;
      if (entry !== undefined) yield this.#shown(seq, entry);
    }
  }

  /** Resolves when that many requests have arrived since the start or the last `clear`. */
  whenCount(count: number): Promise<void> {
    if (this.#count >= count) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ count, resolve });
    });
  }

  /** Forgets everything and numbers requests from 1 again. */
  clear(): void {
    this.#entries = [];
    this.#count = 0;
    this.#counts = noRequests();
  }

  /** Counts of all requests, also of those whose entries are not kept any more. */
  get counts(): Readonly<RequestCounts> {
    return structuredClone(this.#counts);
  }

  get kept(): number {
    return this.#entries.length;
  }

  #storedBody(body: Buffer | undefined): string | undefined {
    if (body === undefined || this.#settings.body === 'none') return undefined;
    return this.#settings.body === 'text' ? body.toString('utf8') : hash('sha256', body, 'binary');
  }

  #shown(seq: number, entry: StoredEntry): LogEntry {
    return {
      seq,
      time: new Date(this.#start + entry.elapsed).toISOString(),
      operation: entry.operation ?? null,
      ...(entry.target !== undefined && { target: entry.target }),
      id: entry.id ?? null,
      nth: entry.nth ?? null,
      user_id: entry.userId ?? null,
      ...this.#shownBody(entry.body),
      status: entry.status === 0 ? null : entry.status,
      code: entry.code ?? null,
      committed: entry.committed,
      fault: entry.fault ?? null,
      throttled: entry.throttled,
    };
  }

  #shownBody(stored: string | undefined): Pick<LogEntry, 'body' | 'body_sha256'> {
    if (stored === undefined) return {};
    return this.#settings.body === 'text'
      ? { body: stored }
      : { body_sha256: Buffer.from(stored, 'latin1').toString('hex') };
  }

  #wake(): void {
    for (const { count, resolve } of this.#waiting) {
      if (this.#count >= count) resolve();
    }
    this.#waiting = this.#waiting.filter(({ count }) => this.#count < count);
  }
}

function noRequests(): RequestCounts {
  const counts = { requests: 0, committed: 0, throttled: 0 };
  return { ...counts, by_operation: {}, by_status: {}, by_code: {}, by_fault: {} };
}

function count(counts: RequestCounts, { operation, code, fault, committed, throttled }: RequestRecord): void {
  counts.requests++;
  if (committed) counts.committed++;
  if (throttled) counts.throttled++;
  increment(counts.by_operation, operation ?? 'none');
  if (code !== undefined) increment(counts.by_code, code);
  if (fault !== undefined) increment(counts.by_fault, fault);
}

function increment(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** A request while it is in the log. */
interface StoredEntry extends Omit<RequestRecord, 'body'> {
  readonly committed: boolean;
  readonly throttled: boolean;
  /** Milliseconds since the log's start. */
  readonly elapsed: number;
  /** The text, or the 32 bytes of the hash. */
  readonly body: string | undefined;
  /** 0: not sent. */
  status: number;
}
