import { parseFaults } from './faults.ts';
import { limitHeaderStyles } from './limits/allowance.ts';
import { parseLimitPlan } from './limits/plan.ts';
import {
  choice,
  type Given,
  invalidOption,
  maxIdentifier,
  type Options,
  parseDurationRange,
  parseShare,
  type Values,
  wholeNumber,
} from './notation.ts';

/** The options of the sandbox; docs/sandbox.md describes limits and faults. */
export const sandboxOptions = {
  port: wholeNumber(0, 65_535n, ['Server', '<n>', 'port to listen on; 0 takes any free one']),
  host: {
    byDefault: '127.0.0.1',
    read: (_: string, text: string) => text,
    help: ['Server', '<address>', 'address to listen on'],
  },
  token: {
    byDefault: 'sandbox-token',
    read: parseTokens,
    help: ['Server', '<token>', 'Bearer token to accept, or one,two; no secret'],
  },
  evaluations: wholeNumber(1000, maxIdentifier, ['Content', '<n>', 'evaluations 1 to n']),
  soundboards: wholeNumber(200, maxIdentifier, ['Content', '<n>', 'soundboards 1 to n']),
  seed: wholeNumber(1, maxIdentifier, ['Content', '<n>', 'everything generated and drawn depends on it']),
  unrecoverable: {
    byDefault: '2%',
    read: parseShare,
    help: ['Content', '<share>', 'of the evaluations: 50, 100, 150, …'],
  },
  notDeleted: {
    byDefault: '1%',
    read: parseShare,
    help: ['Content', '<share>', 'of the evaluations: 70, 170, 270, …'],
  },
  latency: {
    byDefault: '0ms',
    read: parseDurationRange,
    help: ['Trouble', '<time>', 'of every answer: 50ms, or 20ms..80ms'],
  },
  limit: { byDefault: 'none', read: parseLimitPlan, help: ['Trouble', '<limit>', 'rate limit, see below'] },
  limitHeaders: choice(limitHeaderStyles, ['Trouble', '<style>', 'where answers tell what is left of it']),
  limitStatus: choice(['429', '503'], ['Trouble', '<n>', 'what is beyond it']),
  retryAfter: choice(['header', 'none'], ['Trouble', '<where>', 'where it says how long to wait']),
  fault: {
    byDefault: 'none',
    read: (option: string, text: string) => parseFaults(option, text),
    help: ['Trouble', '<shares>', 'such as reset=1%,timeout=0.5%'],
  },
} satisfies Options;

/** What can be said when a sandbox is started. Texts are those of the command's flags. */
export type SandboxOptions = Given<typeof sandboxOptions>;

/** The options, read. */
export type SandboxSettings = Values<typeof sandboxOptions>;

/** Reads tokens with commas between: visible ASCII, so that they can be sent in a header. */
function parseTokens(option: string, text: string): readonly [string, ...string[]] {
  const [first = '', ...others] = text.split(',');
  if ([first, ...others].every((token) => /^[\x21-\x7e]+$/.test(token))) return [first, ...others];
  throw invalidOption(
    option,
    'a token is made of visible ASCII characters, without spaces; write several as one,two',
  );
}
