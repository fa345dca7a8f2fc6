import { describe, expect, test } from 'vitest';
import { commonPolicy, type RatePolicy, ratePolicySchema } from '../../../src/engine/cluster/rate-policy.ts';

const auto: RatePolicy = { text: 'auto', auto: true };
const none = undefined;
const fixed = (perSecond: number): RatePolicy => ({ text: `${perSecond}/s`, auto: false, perSecond });
const bounded = (perSecond: number): RatePolicy => ({ text: `auto..${perSecond}/s`, auto: true, perSecond });

const byRun = (policies: readonly (RatePolicy | undefined)[]) =>
  new Map(policies.map((policy, index) => [`r${index}`, policy]));

describe('the combined policy of several runs', () => {
  test.each<[string, (RatePolicy | undefined)[], object]>([
    ['no run', [], { auto: false }],
    ['one that looks for the limit of the API', [auto], { auto: true }],
    ['one that looks for it up to a bound', [bounded(50)], { auto: true, perSecond: 50 }],
    ['a fixed rate and no limit', [fixed(50), none], { auto: false, perSecond: 50 }],
    ['a fixed rate and auto', [fixed(50), auto], { auto: true, perSecond: 50 }],
    ['a fixed rate below a bound', [bounded(50), fixed(5)], { auto: true, perSecond: 5 }],
  ])('%s', (_title, policies, expected) => {
    expect(commonPolicy(byRun(policies))).toMatchObject(expected);
    expect(commonPolicy(byRun(policies.toReversed()))).toMatchObject(expected);
  });

  test('is bound by the strictest of them, which is named where there are others', () => {
    expect(commonPolicy(byRun([fixed(5)]))).toEqual({ auto: false, perSecond: 5 });
    expect(commonPolicy(byRun([auto, none]))).toEqual({ auto: true });
    expect(commonPolicy(byRun([auto, fixed(5), bounded(9)]))).toEqual({
      auto: true,
      perSecond: 5,
      boundBy: 'r1',
    });
  });
});

test('a policy written by an earlier version is a fixed rate', () => {
  const earlier = { text: '50/s', perSecond: 50, limit: { calls: 5, perMs: 100 } };
  expect(ratePolicySchema.parse(earlier)).toEqual({ text: '50/s', auto: false, perSecond: 50 });
});
