import { type LimitPlan, PlannedLimiter } from '../limits/limit-plan.ts';
import type { Admitted, Allowance, Limiter, Refused } from '../limits/limiter.ts';
import { type Refusal, refuse } from './refusal.ts';

/** What is checked before a request's body counts for anything. */
export interface GateRequest {
  readonly method: string;
  readonly authorization: string | undefined;
}

export interface GateSettings {
  /** The tokens that are accepted. */
  readonly tokens: readonly string[];
  readonly forbidden: boolean;
  readonly limit: LimitPlan;
  readonly limitStatus: LimitStatus;
}

/** The HTTP status with which the rate limit refuses. */
export const limitStatuses = ['429', '503'] as const;
type LimitStatus = (typeof limitStatuses)[number];

/** What the gate says to a request. */
export type Passage =
  | { readonly kind: 'admitted'; readonly admission: Admitted }
  /** It did not come to the rate limit. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'throttled'; readonly refusal: Refusal; readonly allowance: Allowance };

/** Refuses requests for their method, their token and the rate limit, in this order. */
export class Gate {
  #settings: GateSettings;
  #limiter: Limiter;

  constructor(settings: GateSettings) {
    this.#settings = settings;
    this.#limiter = new PlannedLimiter(settings.limit);
  }

  /** `now` is in milliseconds since 1970 and never goes back. */
  pass({ method, authorization }: GateRequest, now: number): Passage {
    const { tokens, forbidden, limitStatus } = this.#settings;
    if (method !== 'POST') return { kind: 'refused', refusal: methodNotAllowed };
    const token = bearerToken(authorization);
    if (token === undefined || !tokens.includes(token)) return { kind: 'refused', refusal: unauthenticated };
    if (forbidden) return { kind: 'refused', refusal: permissionDenied };
    const admission = this.#limiter.admit(now, token);
    return admission.admitted
      ? { kind: 'admitted', admission }
      : { kind: 'throttled', refusal: throttled(admission, limitStatus), allowance: admission.allowance };
  }

  /** Changes settings. The limit goes on with what is used up, also when it is another one now: see `renewLimit`. */
  configure(changes: Partial<GateSettings>): void {
    this.#settings = { ...this.#settings, ...changes };
  }

  /** Starts the limit with nothing used up. */
  renewLimit(): void {
    this.#limiter = new PlannedLimiter(this.#settings.limit);
  }
}

const methodNotAllowed = refuse('UNIMPLEMENTED', 'this path takes POST only', {
  status: 405,
  headers: { allow: 'POST' },
});

const unauthenticated = refuse('UNAUTHENTICATED', 'the access token is missing or not valid', {
  headers: { 'www-authenticate': 'Bearer' },
});

const permissionDenied = refuse('PERMISSION_DENIED', 'the access token does not permit this operation');

function throttled({ retryAfter }: Refused, status: LimitStatus): Refusal {
  const code = status === '429' ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE';
  return refuse(code, 'too many requests', { retryAfter });
}

/** The name of the scheme is case-insensitive (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}
