import type { OperationName } from '../service/endpoint.ts';

/** What the log keeps of request bodies. `text` costs the memory of the bodies. */
export const logBodies = ['sha256', 'text', 'none'] as const;
export type LogBody = (typeof logBodies)[number];

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
