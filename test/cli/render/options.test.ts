import { expect, test } from 'vitest';
import { optionTexts, valueText } from '../../../src/cli/render/options.ts';
import { leastOptions } from '../../engine/run/planned-record.ts';

const rate = { text: 'auto..5/s', auto: true, perSecond: 5 };

test.each<[options: Parameters<typeof optionTexts>[0], flags: string, settings: string]>([
  [
    { ...leastOptions, rate, timeoutMs: 60_000, maxFailures: { percent: 5 } },
    '--on-conflict refuse --concurrency 1 --attempts 1 --timeout 1m --rate auto..5/s --max-failures 5%',
    'backoff 1ms',
  ],
  [{ delimiter: ',', html: false, compare: true }, '--delimiter comma --no-html --compare', ''],
  [
    { canary: { rows: 10, random: true, pause: true, maxFailures: 0 }, saveResponses: true },
    '--canary 10,random,pause --save-responses',
    '',
  ],
  [
    { where: ['deleted_by=u 17', 'a>=1'], map: { 'User id': 'user_id' }, default: { user_id: 'w' } },
    '--where "deleted_by=u 17" --where "a>=1" --map "User id=user_id" --default "user_id=w"',
    '',
  ],
  [{ strict: false, clearToken: '-' }, '', 'strict no, clear_token -'],
])(
  'options stand as they are typed, and settings without a flag as in config.json',
  (options, flags, settings) => {
    const texts = optionTexts(options);
    expect(texts.flags.join(' ')).toBe(flags);
    expect(texts.settings.join(', ')).toBe(settings);
  },
);

test('a value that is not given says so', () => {
  expect(valueText('rate', undefined)).toBe('not given');
  expect(valueText('maxOutageMs', 90_000)).toBe('90s');
});
