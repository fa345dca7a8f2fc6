// @ts-check

/** @type {readonly import('./world.ts').Condition[]} What answers may tell. */
export const conditions = [
  ['no headers', {}],
  ['503', { limitStatus: 503 }],
  ['Retry-After', { retryAfter: true }],
  ['RateLimit', { retryAfter: true, headers: 'ratelimit' }],
  ['X-RateLimit', { retryAfter: true, headers: 'x-ratelimit' }],
];
