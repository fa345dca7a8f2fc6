import { usageError } from '../../errors.ts';
import type { RequestLogSettings } from '../log/request-log.ts';
import type { ServiceSettings } from '../service/service.ts';
import {
  completeState,
  type GivenState,
  readStateFile,
  type StateDocument,
} from '../state/state-document.ts';
import { choices, parseChoice } from './choice.ts';
import { parseShare } from './share.ts';
import { completeSwitches, readSwitches, type SwitchOptions } from './switches.ts';
import { parseWholeNumber } from './whole-number.ts';

/** Everything that can be said at the start. Texts are those of the command's flags. */
export interface SandboxOptions extends SwitchOptions {
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** 0 (default) takes any free port. */
  readonly port?: string | number;
  /** The Bearer token that is accepted, or several with commas between. Default `sandbox-token`. */
  readonly token?: string;
  /** Evaluations are generated with the identifiers from 1 to this. Default 1000; with `state`, 0. */
  readonly evaluations?: string | number;
  /** Soundboard entries are generated with the identifiers from 1 to this. Default 200; with `state`, 0. */
  readonly soundboards?: string | number;
  /** What is generated and drawn depends on this only. Default 1. */
  readonly seed?: string | number;
  /** Share of the generated evaluations that cannot be recovered. Default `2%`: the identifiers 50, 100, … */
  readonly unrecoverable?: string;
  /** Share of the generated evaluations that are not deleted. Default `1%`: the identifiers 70, 170, … */
  readonly notDeleted?: string;
  /** A state file's path, or what such a file holds; it adds to what is generated and wins over it. */
  readonly state?: string | StateDocument;
  /** Entries that the request log keeps. Default 1,000,000. */
  readonly logLimit?: string | number;
  /** What the log keeps of bodies: `sha256` (default), `text` or `none`. */
  readonly logBody?: string;
  /** The longest request body that is accepted, in bytes. Default 4 MiB. */
  readonly maxBody?: string | number;
}

export const defaultOptions = {
  host: '127.0.0.1',
  port: 0,
  token: 'sandbox-token',
  evaluations: 1000,
  soundboards: 200,
  seed: 1,
  unrecoverable: '2%',
  notDeleted: '1%',
  logLimit: 1_000_000,
  logBody: choices.logBody[0],
  maxBody: 4 * 1024 * 1024,
} as const satisfies SandboxOptions;

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
export async function readSettings(options: SandboxOptions): Promise<Settings> {
  const given = { ...defaultOptions, ...options };
  const switches = readSwitches(completeSwitches(options));
  const seed = parseWholeNumber('--seed', given.seed, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const unrecoverable = parseShare('--unrecoverable', given.unrecoverable);
  const notDeleted = parseShare('--not-deleted', given.notDeleted);
  const evaluations = parseCount('--evaluations', options.evaluations, options, defaultOptions.evaluations);
  const soundboards = parseCount('--soundboards', options.soundboards, options, defaultOptions.soundboards);
  const settings = {
    host: given.host,
    port: parseWholeNumber('--port', given.port, { min: 0, max: 65_535 }),
    tokens: readTokens(given.token),
    maxBody: parseWholeNumber('--max-body', given.maxBody, { min: 1, max: 2 ** 28 }),
    log: {
      limit: parseWholeNumber('--log-limit', given.logLimit, { min: 1, max: 100_000_000 }),
      body: parseChoice('--log-body', 'logBody', given.logBody),
    },
  };
  const state = await readState(options.state, seed);
  return {
    ...settings,
    service: {
      seed,
      switches,
      evaluations: { seed, generated: evaluations, unrecoverable, notDeleted, given: state.evaluations },
      soundboards: { seed, generated: soundboards, given: state.soundboards },
    },
  };
}

/**
 * Reads tokens with commas between: visible ASCII, so that they can be sent in a header.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function readTokens(text: string): readonly [string, ...string[]] {
  const [first = '', ...others] = text.split(',');
  if ([first, ...others].every((token) => /^[\x21-\x7e]+$/.test(token))) return [first, ...others];
  throw usageError(
    'INVALID_OPTION',
    '--token: a token is made of visible ASCII characters, without spaces; write several as one,two',
  );
}

/** With a state file, nothing is generated unless a number is given. */
function parseCount(
  option: string,
  count: string | number | undefined,
  { state }: SandboxOptions,
  byDefault: number,
): number {
  const value = count ?? (state === undefined ? byDefault : 0);
  return parseWholeNumber(option, value, { min: 0, max: 1_000_000_000 });
}

async function readState(state: SandboxOptions['state'], seed: number): Promise<GivenState> {
  return typeof state === 'string'
    ? readStateFile(state, seed)
    : completeState(state ?? {}, seed, 'the state');
}
