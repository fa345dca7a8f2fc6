import { expect, test } from 'vitest';
import {
  rateKinds,
  readRateChoice,
  typedRate,
  wantedRateText,
} from '../../../../src/pages/browser/dashboard/wanted-rate.ts';
import { parseRate } from '../../../../src/settings/parsers.ts';

test.each([
  ['auto', 'auto', ''],
  ['none', 'none', ''],
  ['auto..50/s', 'most', '50'],
  ['8/s', 'fixed', '8'],
  ['600/m', 'fixed', '10'],
  ['100/15s', 'fixed', '6.667'],
  ['auto..1.5/s', 'most', '1.5'],
  ['fast', 'auto', ''],
])('the rate %s is offered as %s %s', (text, kind, perSecond) => {
  expect(readRateChoice(text)).toEqual({ kind, perSecond });
});

test('the server reads each choice as the rate that was chosen', () => {
  const wanted = rateKinds.map((kind) => parseRate(typedRate({ kind, perSecond: '8.5' })));
  expect(wanted).toMatchObject([
    { auto: true },
    { auto: true, perSecond: 8.5 },
    { auto: false, perSecond: 8.5 },
    null,
  ]);
});

const since = new Date('2026-11-29T20:11:00.000Z');

test.each([
  ['auto', undefined, ''],
  ['8/s', undefined, '8/s'],
  ['auto..8/s', undefined, 'at most 8/s'],
  ['8/s', since, /^8\/s since \d\d:\d1 /],
  ['auto', since, /^auto since /],
  ['none', since, /^no limit since /],
] as const)('a run that is to be called at %s says so, and since when', (wantedRate, setAt, text) => {
  const words = wantedRateText(
    { wantedRate, rateSetAt: setAt?.toISOString() },
    new Date(since.getTime() + 60_000),
  );
  if (typeof text === 'string') expect(words).toBe(text);
  else expect(words).toMatch(text);
});
