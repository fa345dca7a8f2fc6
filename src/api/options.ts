import type { BaseUrlOptions } from './base-url.ts';
import type { TokenSource } from './token.ts';

/** Time-outs in milliseconds. Those of headers and body are checked about twice a second. */
export interface Timeouts {
  /** For a connection, TLS included. Default: 5000. */
  readonly connectMs: number;
  /** From the end of the request to the head of the answer. Default: 30000. */
  readonly headersMs: number;
  /** Between two parts of the answer's body. Default: 30000. */
  readonly bodyMs: number;
  /** For a whole call: waiting for a free connection, repeated connecting, a second request after 401. Default: 60000. */
  readonly totalMs: number;
}

export interface ClientOptions extends BaseUrlOptions {
  /** Where the API is, as `parseBaseUrl` takes it. */
  readonly baseUrl: string;
  /** The Bearer token, or where it comes from (`tokenFromFile`). */
  readonly token: string | TokenSource;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** Most connections at the same time; further calls wait. Default: 10. */
  readonly connections?: number | undefined;
  /**
   * Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are looked up, also in small letters: `process.env`. Default: no
   * proxy.
   */
  readonly proxyVariables?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default: `callquality-batch`. */
  readonly userAgent?: string | undefined;
  /** Largest body of an answer in bytes. Default: 16777216 (16 MiB). */
  readonly maxAnswerBytes?: number | undefined;
}

export const defaultTimeouts = {
  connectMs: 5000,
  headersMs: 30_000,
  bodyMs: 30_000,
  totalMs: 60_000,
} as const satisfies Timeouts;
