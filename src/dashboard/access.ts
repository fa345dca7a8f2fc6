import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';

/** What of a request decides who has sent it. Names are in lower case. */
export interface RequestFacts {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Whether a request comes from our own page or from a person, and not from another site in the same browser: a name that
 * was made to lead here (DNS rebinding) is refused, and so is what a page of another origin asks for.
 *
 * @param host the address that we listen on, whose name is allowed
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

/** The name or address in a header `Host`, without brackets and port. */
function hostNameOf(host: string | readonly string[] | undefined): string | undefined {
  if (typeof host !== 'string') return undefined;
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{1,5})?$/.exec(host) ?? [];
  return (bracketed ?? plain)?.toLowerCase();
}

/** Lets a reader control runs who has exchanged the token for a session, which works once. */
export class ControlAccess {
  /** Stands in the URL that is printed. */
  readonly token = randomBytes(24).toString('base64url');
  readonly #session = randomBytes(24).toString('base64url');
  readonly #cookie: string;
  #isSpent = false;

  /** @param port tells apart several on one machine, whose cookies a browser sends to all */
  constructor(port: number) {
    this.#cookie = `cqbatch-${port}`;
  }

  /** The cookie of the session, for the first who has the token; undefined for anybody else. */
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

/** Takes as long for a text that is nearly right as for another. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
