import { parseFaults } from './faults.ts';
import { limitHeaderStyles } from './limits/allowance.ts';
import { parseLimitPlan } from './limits/plan.ts';
import {
  choice,
  flagOption,
  type GivenOptions,
  invalidOption,
  maxIdentifier,
  type Options,
  type OptionValues,
  parseDurationRange,
  parseShare,
  wholeNumber,
} from './notation.ts';

/** docs/sandbox.md describes what the help does not say. */
export const sandboxOptions = {
  port: wholeNumber(0, 65_535n, ['Server', '<n>', 'port to listen on; 0 picks a free port']),
  host: {
    byDefault: '127.0.0.1',
    read: parseHost,
    help: ['Server', '<address>', 'address to listen on'],
  },
  token: {
    byDefault: 'sandbox-token',
    read: parseTokens,
    help: ['Server', '<token>', 'bearer tokens to accept, separated by commas; the sandbox prints them'],
  },
  shape: choice(
    ['document', 'gateway', 'connect'],
    ['Shape', '<shape>', 'how requests are read and answers written; see Shapes below'],
  ),
  updates: choice(
    ['merge', 'replace', 'presence'],
    ['Shape', '<how>', 'what an update does to fields that are left out or empty; see Updates below'],
  ),
  numbers: choice(
    ['exact', 'rounded'],
    ['Shape', '<how>', 'how numbers above 2^53-1 in requests are read; rounded: as JavaScript reads them'],
  ),
  evaluations: wholeNumber(1000, maxIdentifier, ['Content', '<n>', 'number of evaluations, with ids from 1']),
  soundboards: wholeNumber(200, maxIdentifier, [
    'Content',
    '<n>',
    'number of soundboard entries, with ids from 1',
  ]),
  seed: wholeNumber(1, maxIdentifier, ['Content', '<n>', 'seed for all random choices']),
  unrecoverable: {
    byDefault: '2%',
    read: parseShare,
    help: [
      'Content',
      '<share>',
      'share of evaluations that can no longer be restored; 2% are ids 50, 100, 150, …',
    ],
  },
  notDeleted: {
    byDefault: '1%',
    read: parseShare,
    help: ['Content', '<share>', 'share of evaluations that are not deleted; 1% are ids 70, 170, 270, …'],
  },
  lists: choice(
    ['served', 'forbidden', 'missing', 'balancer'],
    ['Lists', '<how>', 'how calls that read entries are answered; see Lists below'],
  ),
  changing: flagOption(['Lists', 'another client changes entries between two pages, and between two lists']),
  latency: {
    byDefault: '0ms',
    read: parseDurationRange,
    help: ['Trouble', '<time>', 'delay of each answer, such as 50ms or 20ms..80ms'],
  },
  limit: {
    byDefault: 'none',
    read: parseLimitPlan,
    help: ['Trouble', '<limit>', 'rate limit; see Limits below'],
  },
  limitHeaders: choice(limitHeaderStyles, [
    'Trouble',
    '<style>',
    'headers with the remaining calls of the limit',
  ]),
  limitStatus: choice(['429', '503'], ['Trouble', '<n>', 'status of calls over the limit']),
  retryAfter: choice(
    ['header', 'details', 'none'],
    ['Trouble', '<where>', 'where the answer to a call over the limit says how long to wait'],
  ),
  fault: {
    byDefault: 'none',
    read: (option: string, text: string) => parseFaults(option, text),
    help: [
      'Trouble',
      '<shares>',
      'shares of calls that fail, such as reset=1%,timeout=0.5%; see Faults below',
    ],
  },
} satisfies Options;

/** The options as texts, written like the values of flags. */
export type SandboxOptions = GivenOptions<typeof sandboxOptions>;

export type SandboxSettings = OptionValues<typeof sandboxOptions>;

function parseHost(option: string, text: string): string {
  if (text.trim() !== '') return text;
  throw invalidOption(option, 'write an address to listen on');
}

/** Reads tokens: visible ASCII, as a header requires, separated by commas. */
function parseTokens(option: string, text: string): readonly [string, ...string[]] {
  const [first = '', ...rest] = text.split(',');
  if ([first, ...rest].every((token) => /^[\x21-\x7e]+$/.test(token))) return [first, ...rest];
  throw invalidOption(
    option,
    'tokens must be visible ASCII characters without spaces; separate several with commas: one,two',
  );
}
