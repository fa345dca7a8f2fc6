import { usageError } from '../../errors.ts';
import { isJsonObject } from '../../text/json.ts';
import { parseFaults } from '../faults.ts';
import { parseLimitPlan } from '../limits/plan.ts';
import { omittedFields } from '../model/entities.ts';
import { logBodies } from '../request-log.ts';
import { compressions } from '../service/delivery.ts';
import { limitHeaderStyles } from '../service/limit-headers.ts';
import { notDeletedStatuses } from '../service/operations.ts';
import { errorStyles, limitStatuses, retryAfterStyles, stylesWithDetails } from '../service/refusal.ts';
import { integerStyles, keyCases } from '../service/wire.ts';
import { completeState, readStateFile, type StateDocument } from '../state/state-document.ts';
import {
  choice,
  type Given,
  invalidOption,
  type Options,
  parseDuration,
  parseDurationRange,
  parseShare,
  readOptions,
  type Values,
  wholeNumber,
} from './notation.ts';

/** What can be said at the start only. */
export const sandboxStartOptions = {
  port: wholeNumber(0, { max: 65_535 }, ['Server', '<n>', 'port to listen on; 0 takes any free one']),
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
  maxBody: wholeNumber(4 * 1024 * 1024, { min: 1, max: 2 ** 28 }, [
    'Server',
    '<bytes>',
    'longest request body',
  ]),
  evaluations: wholeNumber(1000, { max: 1e9 }, ['Content', '<n>', 'evaluations 1 to n', '; with --state 0']),
  soundboards: wholeNumber(200, { max: 1e9 }, ['Content', '<n>', 'soundboards 1 to n', '; with --state 0']),
  seed: wholeNumber(1, { max: Number.MAX_SAFE_INTEGER }, [
    'Content',
    '<n>',
    'everything generated and drawn depends on it',
  ]),
  unrecoverable: {
    byDefault: '2%',
    read: parseShare,
    help: ['Content', '<share>', 'of the evaluations', ': 50, 100, 150, …'],
  },
  notDeleted: {
    byDefault: '1%',
    read: parseShare,
    help: ['Content', '<share>', 'of the evaluations', ': 70, 170, 270, …'],
  },
  logLimit: wholeNumber(1_000_000, { min: 1, max: 1e8 }, ['Request log', '<n>', 'entries to keep']),
  logBody: choice(logBodies, ['Request log', '<what>', 'what to keep of request bodies']),
} satisfies Options;

/** How the service behaves: what can be changed while it runs. docs/sandbox.md describes limits and faults. */
export const switches = {
  errorStyle: choice(errorStyles, ['Answers', '<style>', 'form of error bodies']),
  integers: choice(integerStyles, ['Answers', '<form>', 'integers in answers']),
  case: choice(keyCases, ['Answers', '<case>', 'keys in answers']),
  omitted: choice(omittedFields, ['Answers', '<what>', 'soundboard fields that an update leaves out']),
  notDeletedStatus: choice(notDeletedStatuses, ['Answers', '<n>', 'restoring what is not deleted']),
  retryAfter: choice(retryAfterStyles, ['Answers', '<where>', 'where a 429 or 503 says how long to wait']),
  compress: choice(compressions, ['Answers', '<how>', 'compression of all answers']),
  latency: {
    byDefault: '0ms',
    read: parseDurationRange,
    help: ['Trouble', '<time>', 'of every answer: 50ms, or 20ms..80ms'],
  },
  limit: { byDefault: 'none', read: parseLimitPlan, help: ['Trouble', '<limit>', 'rate limit, see below'] },
  limitHeaders: choice(limitHeaderStyles, ['Trouble', '<style>', 'where answers tell what is left of it']),
  limitStatus: choice(limitStatuses, ['Trouble', '<n>', 'what is beyond it']),
  fault: {
    byDefault: 'none',
    read: parseFaults,
    help: ['Trouble', '<shares>', 'such as reset=1%,timeout=0.5%'],
  },
  slowBodyDelay: {
    byDefault: '5s',
    read: parseDuration,
    help: ['Trouble', '<time>', 'of the fault slow-body'],
  },
  forbidden: {
    byDefault: false,
    read: (_: string, text: string) => text === 'true',
    help: ['Server', '', 'refuse every call with 403'],
  },
} satisfies Options;

export type SwitchOptions = Given<typeof switches>;

/** The switches, read. */
export type Switches = Values<typeof switches>;

/** Everything that can be said at the start. Texts are those of the command's flags. */
export type SandboxOptions = SwitchOptions &
  Given<typeof sandboxStartOptions> & {
    /**
     * A state file's path, or what such a file holds. It wins over what is generated, which is nothing unless a number
     * is given.
     */
    readonly state?: string | StateDocument;
  };

/**
 * Reads the options, and the state file where there is one.
 *
 * @throws CqbatchError `INVALID_OPTION`, `INVALID_STATE`
 */
export async function readSettings({ state, ...options }: SandboxOptions) {
  const given = state === undefined ? options : { evaluations: 0, soundboards: 0, ...options };
  const {
    seed,
    token: tokens,
    unrecoverable,
    notDeleted,
    ...values
  } = readOptions(sandboxStartOptions, given);
  const { evaluations, soundboards } =
    typeof state === 'string'
      ? await readStateFile(state, seed)
      : completeState(state ?? {}, seed, 'the state');
  return {
    host: values.host,
    port: values.port,
    maxBody: values.maxBody,
    log: { limit: values.logLimit, body: values.logBody },
    service: {
      seed,
      tokens,
      switches: readSwitches(options),
      evaluations: { seed, generated: values.evaluations, unrecoverable, notDeleted, given: evaluations },
      soundboards: { seed, generated: values.soundboards, given: soundboards },
    },
  };
}

/** All switches as texts: those that are given, among other options or not, and defaults for the rest. */
export function completeSwitches(options: SwitchOptions): Required<SwitchOptions> {
  const texts = Object.entries(switches).map(([name, { byDefault }]) => [
    name,
    options[name as keyof SwitchOptions] ?? byDefault,
  ]);
  return Object.fromEntries(texts);
}

/**
 * Reads the switches.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function readSwitches(options: SwitchOptions): Switches {
  const values = readOptions(switches, options);
  if (values.retryAfter === 'retry-info' && !stylesWithDetails.includes(values.errorStyle)) {
    throw usageError(
      'INVALID_OPTION',
      `--retry-after retry-info needs an --error-style with details: ${stylesWithDetails.join(', ')}`,
    );
  }
  return values;
}

/**
 * Reads changes of switches from JSON.
 *
 * @throws CqbatchError `INVALID_OPTION` for unknown names and values of the wrong type.
 */
export function readSwitchChanges(json: unknown): SwitchOptions {
  const invalid = (message: string) => usageError('INVALID_OPTION', message);
  if (!isJsonObject(json)) throw invalid('the changes must be a JSON object');
  for (const [name, value] of Object.entries(json)) {
    if (!Object.hasOwn(switches, name)) {
      const known = Object.keys(switches).join(', ');
      throw invalid(`there is no switch ${JSON.stringify(name)}; known switches: ${known}`);
    }
    const type = typeof switches[name as keyof SwitchOptions].byDefault;
    if (typeof value !== type) throw invalid(`${name} must be a ${type}`);
  }
  return json;
}

/**
 * Reads tokens with commas between: visible ASCII, so that they can be sent in a header.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseTokens(option: string, text: string): readonly [string, ...string[]] {
  const [first = '', ...others] = text.split(',');
  if ([first, ...others].every((token) => /^[\x21-\x7e]+$/.test(token))) return [first, ...others];
  throw invalidOption(
    option,
    'a token is made of visible ASCII characters, without spaces; write several as one,two',
  );
}
