import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isForThisServer } from '../../daemon/http-server.ts';

/** Where readers find the dashboard. */
export interface Place {
  /** The address that the server listens on, which may be a name. */
  readonly host: string;
  /** Where a proxy serves the dashboard, if the user has said so. Its path ends in a slash. */
  readonly publicUrl?: URL | undefined;
}

/**
 * Whether a request comes from our own page or from a person, and not from another site in the same browser. Refuses unknown
 * host names and requests from pages of other origins. Believes no header of a proxy: a web page can send them, too.
 */
export function isFromHere(headers: IncomingHttpHeaders, { host, publicUrl }: Place): boolean {
  if (!isForThisServer(headers, publicUrl === undefined ? [host] : [host, publicUrl.hostname])) return false;
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined) return isOwnOrigin(origin, headers.host, publicUrl);
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return site === undefined || site === 'same-origin' || site === 'none' || isLink;
}

function isOwnOrigin(origin: string, host: string | undefined, publicUrl: URL | undefined): boolean {
  // The public address counts whatever the host is: a proxy may not pass the host on.
  if (origin === publicUrl?.origin) return true;
  // If the public address has TLS, its plain http:// form does not count: anyone in the network can pretend to have that address.
  return origin === `https://${host}` || (origin === `http://${host}` && host !== publicUrl?.host);
}

/** Lets a reader control runs after an exchange of the token for a session. The token works once. */
export class ControlAccess {
  readonly token = randomBytes(24).toString('base64url');
  readonly #session = randomBytes(24).toString('base64url');
  readonly #scope: string;
  #isTokenUsed = false;

  /** @param publicUrl the public address; other programs of the same host don't get the cookie */
  constructor(publicUrl?: URL) {
    this.#scope = `Path=${publicUrl?.pathname ?? '/'}${publicUrl?.protocol === 'https:' ? '; Secure' : ''}`;
  }

  /** The session cookie for the first request with the token. */
  exchange(token: unknown, headers: IncomingHttpHeaders): string | undefined {
    if (this.#isTokenUsed || typeof token !== 'string' || !isSameSecret(token, this.token)) return undefined;
    this.#isTokenUsed = true;
    return `${cookieName(headers)}=${this.#session}; HttpOnly; SameSite=Strict; ${this.#scope}`;
  }

  hasSession(headers: IncomingHttpHeaders): boolean {
    return (headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim().split('='))
      .some(([name, value = '']) => name === cookieName(headers) && isSameSecret(value, this.#session));
  }
}

/** The name of the session cookie. It has the port, because a browser sends the cookies of a host to all its ports. */
function cookieName({ host = '' }: IncomingHttpHeaders): string {
  return `cqbatch-${/:(\d+)$/.exec(host)?.[1] ?? 80}`;
}

/** Compares two secrets in constant time, so that the time reveals nothing about them. */
function isSameSecret(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
