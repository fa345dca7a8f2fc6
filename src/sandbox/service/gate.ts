import { createLimiter, type Limiter, type LimitSettings } from '../limits/limiter.ts';
import { type Refusal, refuse } from './answer.ts';

/** What is checked before a request's body counts for anything. */
export interface GateRequest {
  readonly method: string;
  readonly authorization: string | undefined;
}

/** Refuses requests for their method, their token and the rate limit, in this order. */
export class Gate {
  #token: string | null;
  #forbidden: boolean;
  #limiter: Limiter | undefined;

  constructor(settings: {
    readonly token: string | null;
    readonly forbidden: boolean;
    readonly limit: LimitSettings;
  }) {
    this.#token = settings.token;
    this.#forbidden = settings.forbidden;
    this.#limiter = createLimiter(settings.limit);
  }

  /** The reason to refuse the request; `undefined` admits it. `now` is in milliseconds and never goes back. */
  refusal({ method, authorization }: GateRequest, now: number): GateRefusal | undefined {
    if (method !== 'POST') return { refusal: methodNotAllowed, throttled: false };
    if (this.#token === null || bearerToken(authorization) !== this.#token) {
      return { refusal: unauthenticated, throttled: false };
    }
    if (this.#forbidden) return { refusal: forbidden, throttled: false };
    const admission = this.#limiter?.admit(now);
    return admission === undefined || admission.admitted
      ? undefined
      : { refusal: rateLimited(admission.retryAfter), throttled: true };
  }

  /** The token that is accepted from now on; `null`: none is. */
  set token(token: string | null) {
    this.#token = token;
  }

  set forbidden(forbidden: boolean) {
    this.#forbidden = forbidden;
  }

  /** Starts a limit, with nothing used up. */
  set limit(limit: LimitSettings) {
    this.#limiter = createLimiter(limit);
  }
}

export interface GateRefusal {
  readonly refusal: Refusal;
  /** Whether it was the rate limit. */
  readonly throttled: boolean;
}

const methodNotAllowed = refuse('UNIMPLEMENTED', 'this path takes POST only', {
  status: 405,
  headers: { allow: 'POST' },
});

const unauthenticated = refuse('UNAUTHENTICATED', 'the access token is missing or not valid', {
  headers: { 'www-authenticate': 'Bearer' },
});

const forbidden = refuse('PERMISSION_DENIED', 'the access token does not permit this operation');

function rateLimited(retryAfter: number): Refusal {
  return refuse('RESOURCE_EXHAUSTED', 'too many requests', { retryAfter });
}

/** The name of the scheme is case-insensitive (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}
