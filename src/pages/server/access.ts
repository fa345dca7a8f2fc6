import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/**
 * Whether a request comes from our own page or from a person, and not from another site in the same browser. Refuses unknown
 * host names (DNS rebinding) and requests from pages of other origins.
 *
 * @param host the address that the server listens on; its name is allowed
 */
export function isFromHere(headers: IncomingHttpHeaders, host: string): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{1,5})?$/.exec(headers.host ?? '') ?? [];
  const name = (bracketed ?? plain ?? '').toLowerCase();
  if (!(isIP(name) > 0 || name === 'localhost' || name === host.toLowerCase())) return false;
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined) return origin === `http://${headers.host}`;
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return site === undefined || site === 'same-origin' || site === 'none' || isLink;
}

/** Lets a reader control runs after an exchange of the token for a session. The token works once. */
export class ControlAccess {
  readonly token = randomBytes(24).toString('base64url');
  readonly #session = randomBytes(24).toString('base64url');
  #isSpent = false;

  /** The session cookie for the first request with the token. */
  exchange(token: unknown, headers: IncomingHttpHeaders): string | undefined {
    if (this.#isSpent || typeof token !== 'string' || !isSame(token, this.token)) return undefined;
    this.#isSpent = true;
    return `${cookieName(headers)}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`;
  }

  isHeldBy(headers: IncomingHttpHeaders): boolean {
    return (headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim().split('='))
      .some(([name, value = '']) => name === cookieName(headers) && isSame(value, this.#session));
  }
}

/** The port is a part of the name, because a browser sends the cookies of a host to all its ports. */
function cookieName({ host = '' }: IncomingHttpHeaders): string {
  return `cqbatch-${/:(\d+)$/.exec(host)?.[1] ?? 80}`;
}

/** Compares in constant time, so that the time reveals nothing about the token. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
