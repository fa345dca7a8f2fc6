import type { ApiAnswer } from '../../../src/engine/api/client.ts';
import type { ApiFailure } from '../../../src/engine/api/failure.ts';
import type { StatedLimit } from '../../../src/engine/api/limits.ts';

type Figures = Partial<Pick<ApiAnswer, 'durationMs' | 'ignoredWaits' | 'limits' | 'requests'>>;
type Failed = Extract<ApiAnswer, { readonly ok: false }>;

export function answered(figures: Figures & { readonly body?: unknown } = {}): ApiAnswer {
  return { ok: true, status: 200, body: {}, requests: 1, durationMs: 50, ...figures };
}

export function failing(failure: Partial<ApiFailure>, figures: Figures = {}): Failed {
  return {
    ok: false,
    requests: 1,
    durationMs: 50,
    failure: { class: 'retry', code: 'UNAVAILABLE', message: 'why', unclear: false, ...failure },
    ...figures,
  };
}

/** The answer of an API when there are too many calls, with a waiting time if given. */
export function tooMany(waitMs?: number): Failed {
  return failing({
    class: 'slow-down',
    code: 'RESOURCE_EXHAUSTED',
    status: 429,
    ...(waitMs !== undefined && { waitMs }),
  });
}

export const unavailable = failing({ code: 'UNAVAILABLE', status: 503 });

/** The same answer with a waiting time. */
export function unavailableFor(waitMs: number): ApiAnswer {
  return failing({ class: 'slow-down', code: 'UNAVAILABLE', status: 503, waitMs });
}

export const refusedConnection = failing({ code: 'CONNECTION_REFUSED' }, { requests: 0 });

export function stated(name: string, remaining: number): StatedLimit {
  return { name, quota: 100, windowMs: 1_000, remaining, unit: 'requests' };
}
