import { expect, test } from 'vitest';
import type { AnswerHeaders } from '../../../../src/engine/api/headers.ts';
import { type StatedLimit, statedLimits } from '../../../../src/engine/api/limits.ts';

/** Wed, 01 May 2024 12:00:00 GMT */
export const now = Date.UTC(2024, 4, 1, 12);
export const day = 86_400_000;

type Expected = Omit<StatedLimit, 'unit'> & Partial<StatedLimit>;
type Case = readonly [claim: string, headers: AnswerHeaders, ...expected: readonly Expected[]];

/** One test for each case: its headers state these limits, on requests unless they say otherwise. */
export function statesEach(cases: readonly Case[]): void {
  test.each(cases.map(([claim, headers, ...expected]) => ({ claim, headers, expected })))(
    '$claim',
    ({ headers, expected }) => {
      const complete = expected.map((limit) => ({ unit: 'requests', ...limit }));
      expect(statedLimits(headers, now)).toStrictEqual(complete);
    },
  );
}

/** The fields of draft-ietf-httpapi-ratelimit-headers-11. */
export function fields(ratelimit?: string | string[], policy?: string | string[]): AnswerHeaders {
  return { ratelimit, 'ratelimit-policy': policy };
}
