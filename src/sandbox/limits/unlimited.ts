import type { Limiter } from './limiter.ts';

/** Admits every request, and has nothing to say about it. */
export const unlimited: Limiter = { admit: () => admitted };

const admitted = { admitted: true } as const;
