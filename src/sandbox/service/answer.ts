import { type Code, codes } from './codes.ts';

/** What the service answers, before it is written in a style. */
export type Answer =
  /** 200. The document does not show the success status (section 4.3). */
  | { readonly kind: 'done'; readonly body: AnswerBody }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Keys in snake_case, integers exact. */
export type AnswerBody = Readonly<Record<string, unknown>>;

export interface Refusal {
  readonly code: Code;
  readonly status: number;
  /** One line for people. */
  readonly message: string;
  /** How long the client should wait, in seconds. */
  readonly retryAfter?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal with the code's usual HTTP status, unless another is given. */
export function refuse(code: Code, message: string, rest: Partial<Refusal> = {}): Refusal {
  return { code, status: codes[code].status, message, ...rest };
}
