import { createHmac } from 'node:crypto';
import pRetry, { AbortError } from 'p-retry';
import { Pool } from 'undici';
import { steadyNow } from '../../base/async/clock.ts';
import { connectMs, connectWithin } from '../../base/connect-attempt.ts';
import { usageError } from '../../base/errors/errors.ts';
import { isLoopback } from './base-url.ts';
import { exchange } from './network/exchange.ts';
import { lostFailure } from './network/network-failure.ts';
import { chooseProxy, type ProxyOptions } from './network/proxy.ts';
import { Stop } from './network/stop.ts';
import { tunnelDispatcher } from './network/tunnel.ts';

/** A receiver of notifications. Messages do not quote the path and query of its URL, which may be secret. */
export interface Webhook {
  /** The host of the receiver, for display: `hooks.example.com`. */
  readonly host: string;
  /**
   * Repeats transient failures.
   *
   * @throws an Error that says why the text was not accepted
   */
  post(text: string, options: PostOptions): Promise<void>;
  close(): Promise<void>;
}

export interface PostOptions {
  /** The longest time for all attempts together. */
  readonly withinMs: number;
  readonly below?: string;
  /** The names and values of headers in turn. */
  readonly headers?: readonly string[];
}

/** Why the receiver did not accept a text. Without a reason, the time for all attempts was over. */
interface Refusal {
  readonly reason?: string;
  readonly isFinal?: boolean;
}

const retries = { retries: 3, minTimeout: 500, maxTimeout: 4_000, factor: 2, randomize: true };

/**
 * @param what name of the setting, for messages: `--notify-url`
 * @throws a usage error, which does not quote the URL, when it can't be used
 */
export function openWebhook(
  what: string,
  text: string,
  { variables }: Pick<ProxyOptions, 'variables'>,
): Webhook {
  const url = readUrl(what, text);
  const proxy = chooseProxy(url.origin, { variables, allowInsecureHttp: true });
  const dispatcher =
    proxy === undefined
      ? new Pool(url.origin, { connect: connectWithin(connectMs) })
      : tunnelDispatcher(proxy, { connect: connectWithin(connectMs) });

  /** Posts a text once. Undefined if the receiver accepts it, otherwise the refusal. */
  async function attempt(
    body: string,
    { below = '', headers = [] }: PostOptions,
    leftMs: number,
  ): Promise<Refusal | undefined> {
    const stop = new Stop(Math.max(1, leftMs));
    try {
      const ending = await exchange(
        dispatcher,
        {
          origin: url.origin,
          method: 'POST',
          path: `${url.pathname.replace(/\/$/, '')}${below}${url.search}` || '/',
          headers: ['content-type', 'application/json', 'user-agent', 'callquality-batch', ...headers],
          body,
        },
        { stop, maxAnswerBytes: 1024 * 1024 },
      );
      if (ending.kind === 'stopped') return {};
      if (ending.kind === 'lost') return { reason: lostFailure(ending.error, ending).message };
      const { status } = ending.answer;
      if (status >= 200 && status <= 299) return undefined;
      const mayPass = status >= 500 || status === 429 || status === 408;
      return { reason: `it answered ${status}`, isFinal: !mayPass };
    } finally {
      stop.release();
    }
  }

  async function post(body: string, options: PostOptions): Promise<void> {
    const { withinMs } = options;
    const until = steadyNow() + withinMs;
    let reason = `no answer within ${withinMs / 1_000} s`;
    const once = async (): Promise<void> => {
      const refusal = await attempt(body, options, until - steadyNow());
      if (refusal === undefined) return;
      reason = refusal.reason ?? reason;
      throw refusal.isFinal ? new AbortError(reason) : new Error(reason);
    };
    await pRetry(once, { ...retries, maxRetryTime: withinMs });
  }

  return {
    host: url.host,
    post,
    // `destroy` instead of `close`, which waits for a receiver that hangs.
    close: () => dispatcher.destroy(),
  };
}

function readUrl(what: string, text: string): URL {
  const trimmed = text.trim();
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url !== undefined && isSafe && url.username === '' && url.password === '') return url;
  throw usageError(
    'WEBHOOK_INVALID',
    `${what} must be an https:// URL (or http:// to this machine), without user name and password.`,
  );
}

/** Signs a text by Standard Webhooks (standardwebhooks.com): HMAC-SHA256 of id, time and text. After `whsec_`, a secret is base64. */
export function signatureHeaders(secret: string, id: string, at: Date, body: string): readonly string[] {
  const time = String(Math.floor(at.getTime() / 1_000));
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  return ['webhook-id', id, 'webhook-timestamp', time, 'webhook-signature', `v1,${signature}`];
}
