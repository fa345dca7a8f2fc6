import { logBodies } from '../log/log-entry.ts';
import type { RequestLogSettings } from '../log/request-log.ts';
import type { ServiceSettings } from '../service/service.ts';
import { completeState, readStateFile, type StateDocument } from '../state/state-document.ts';
import {
  choice,
  type Given,
  invalidOption,
  type Options,
  parseShare,
  readOptions,
  wholeNumber,
} from './notation.ts';
import { readSwitches, type SwitchOptions } from './switches.ts';

/** What can be said at the start only. */
export const startOptions = {
  /** Address to listen on. */
  host: { byDefault: '127.0.0.1', read: (_: string, text: string) => text },
  /** 0 takes any free port. */
  port: wholeNumber(0, { max: 65_535 }),
  /** The Bearer token that is accepted, or several with commas between. */
  token: { byDefault: 'sandbox-token', read: parseTokens },
  /** The longest request body that is accepted, in bytes. */
  maxBody: wholeNumber(4 * 1024 * 1024, { min: 1, max: 2 ** 28 }),
  /** Evaluations are generated with the identifiers from 1 to this. */
  evaluations: wholeNumber(1000, { max: 1_000_000_000 }),
  /** Soundboard entries are generated with the identifiers from 1 to this. */
  soundboards: wholeNumber(200, { max: 1_000_000_000 }),
  /** What is generated and drawn depends on this only. */
  seed: wholeNumber(1, { max: Number.MAX_SAFE_INTEGER }),
  /** Share of the generated evaluations that cannot be recovered: the identifiers 50, 100, … */
  unrecoverable: { byDefault: '2%', read: parseShare },
  /** Share of the generated evaluations that are not deleted: the identifiers 70, 170, … */
  notDeleted: { byDefault: '1%', read: parseShare },
  /** Entries that the request log keeps. */
  logLimit: wholeNumber(1_000_000, { min: 1, max: 100_000_000 }),
  /** What the log keeps of bodies. */
  logBody: choice(logBodies),
} satisfies Options;

/** Everything that can be said at the start. Texts are those of the command's flags. */
export type SandboxOptions = SwitchOptions &
  Given<typeof startOptions> & {
    /**
     * A state file's path, or what such a file holds. It wins over what is generated, which is nothing unless a number
     * is given.
     */
    readonly state?: string | StateDocument;
  };

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly tokens: readonly [string, ...string[]];
  readonly maxBody: number;
  readonly log: RequestLogSettings;
  readonly service: Omit<ServiceSettings, 'log' | 'tokens'>;
}

/**
 * Reads the options, and the state file where there is one.
 *
 * @throws CqbatchError `INVALID_OPTION`, `INVALID_STATE`
 */
export async function readSettings({ state, ...options }: SandboxOptions): Promise<Settings> {
  const switches = readSwitches(options);
  const given = state === undefined ? options : { evaluations: 0, soundboards: 0, ...options };
  const values = readOptions(startOptions, given);
  const { host, port, token: tokens, maxBody, seed, unrecoverable, notDeleted } = values;
  const { evaluations, soundboards } =
    typeof state === 'string'
      ? await readStateFile(state, seed)
      : completeState(state ?? {}, seed, 'the state');
  return {
    host,
    port,
    tokens,
    maxBody,
    log: { limit: values.logLimit, body: values.logBody },
    service: {
      seed,
      switches,
      evaluations: { seed, generated: values.evaluations, unrecoverable, notDeleted, given: evaluations },
      soundboards: { seed, generated: values.soundboards, given: soundboards },
    },
  };
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
