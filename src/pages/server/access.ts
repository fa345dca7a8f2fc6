import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';

/** The parts of a request that reveal its sender. Header names are in lower case. */
export interface RequestFacts {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Whether a request comes from our own page or from a person, and not from another site in the same browser. Refuses unknown
 * host names (DNS rebinding) and requests from pages of other origins.
 *
 * @param host the address that the server listens on; its name is allowed
 */
export function isFromHere({ headers }: RequestFacts, host: string): boolean {
  const name = hostNameOf(headers['host']);
  if (name === undefined || !(isIP(name) > 0 || name === 'localhost' || name === host.toLowerCase()))
    return false;
  const { origin } = headers;
  if (origin !== undefined) return origin === `http://${headers['host']}`;
  const site = headers['sec-fetch-site'];
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return site === undefined || site === 'same-origin' || site === 'none' || isLink;
}

/** The name or address in a `Host` header, without brackets and port. */
function hostNameOf(host: string | readonly string[] | undefined): string | undefined {
  if (typeof host !== 'string') return undefined;
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{1,5})?$/.exec(host) ?? [];
  return (bracketed ?? plain)?.toLowerCase();
}

/** Lets a reader control runs after an exchange of the token for a session. The token works once. */
export class ControlAccess {
  /** The token in the printed URL. */
  readonly token = randomBytes(24).toString('base64url');
  readonly #session = randomBytes(24).toString('base64url');
  readonly #cookie: string;
  #isSpent = false;

  /** @param port part of the cookie's name, because a browser sends the cookies of a host to all its ports */
  constructor(port: number) {
    this.#cookie = `cqbatch-${port}`;
  }

  /** The session cookie, for the first request with the token; undefined for any other request. */
  exchange(token: unknown): string | undefined {
    if (this.#isSpent || typeof token !== 'string' || !isSame(token, this.token)) return undefined;
    this.#isSpent = true;
    return `${this.#cookie}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`;
  }

  isHeldBy({ headers }: RequestFacts): boolean {
    const { cookie } = headers;
    if (typeof cookie !== 'string') return false;
    return cookie
      .split(';')
      .map((pair) => pair.trim().split('='))
      .some(([name, value = '']) => name === this.#cookie && isSame(value, this.#session));
  }
}

/** Compares in constant time, so that the time reveals nothing about the token. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
