import { usageError } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import { parseFaults } from '../faults/fault-shares.ts';
import { omittedFields } from '../model/soundboard.ts';
import { compressions } from '../service/delivery.ts';
import { notDeletedStatuses } from '../service/endpoint.ts';
import { limitStatuses } from '../service/gate.ts';
import { limitHeaderStyles } from '../service/limit-headers.ts';
import { errorStyles, retryAfterStyles, stylesWithDetails } from '../service/refusal.ts';
import { integerStyles, keyCases } from '../service/wire.ts';
import { parseLimitPlan } from './limits.ts';
import {
  choice,
  type Given,
  type Options,
  parseDuration,
  parseDurationRange,
  readOptions,
  type Values,
} from './notation.ts';

/** How the service behaves: what can be changed while it runs. */
export const switches = {
  errorStyle: choice(errorStyles),
  integers: choice(integerStyles),
  case: choice(keyCases),
  omitted: choice(omittedFields),
  notDeletedStatus: choice(notDeletedStatuses),
  retryAfter: choice(retryAfterStyles),
  limitHeaders: choice(limitHeaderStyles),
  limitStatus: choice(limitStatuses),
  compress: choice(compressions),
  /** Of every answer: `50ms`, or a range `20ms..80ms`. */
  latency: { byDefault: '0ms', read: parseDurationRange },
  /** `token-bucket:rate=50,burst=10`, and so on: see docs/sandbox.md, "Rate limits". */
  limit: { byDefault: 'none', read: parseLimitPlan },
  /** `reset=1%,timeout=0.5%`: see `faultKinds`. */
  fault: { byDefault: 'none', read: parseFaults },
  /** How late the second half of a body is with the fault `slow-body`. */
  slowBodyDelay: { byDefault: '5s', read: parseDuration },
  /** Whether every call is refused with 403. */
  forbidden: { byDefault: false, read: (_: string, text: string) => text === 'true' },
} satisfies Options;

export type SwitchOptions = Given<typeof switches>;

/** The switches, read. */
export type Switches = Values<typeof switches>;

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
  if (!isJsonObject(json)) {
    throw usageError('INVALID_OPTION', 'the changes must be a JSON object');
  }
  for (const [name, value] of Object.entries(json)) {
    if (!Object.hasOwn(switches, name)) {
      const known = Object.keys(switches).join(', ');
      throw usageError(
        'INVALID_OPTION',
        `there is no switch ${JSON.stringify(name)}; known switches: ${known}`,
      );
    }
    const type = typeof switches[name as keyof SwitchOptions].byDefault;
    if (typeof value !== type) throw usageError('INVALID_OPTION', `${name} must be a ${type}`);
  }
  return json;
}
