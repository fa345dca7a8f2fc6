import { usageError } from '../../errors.ts';
import type { FaultShares } from '../faults/fault-plan.ts';
import type { LimitPlan } from '../limits/limit-plan.ts';
import type { OmittedFields } from '../model/soundboard.ts';
import type { DeliveryStyle } from '../service/delivery.ts';
import type { NotDeletedStatus } from '../service/endpoint.ts';
import { stylesWithDetails } from '../service/error-body.ts';
import type { LimitStatus } from '../service/gate.ts';
import type { LimitHeaderStyle } from '../service/limit-headers.ts';
import { choices, parseChoice } from './choice.ts';
import { type DurationRange, parseDuration, parseDurationRange } from './duration.ts';
import { parseFaults } from './faults.ts';
import { parseLimitPlan } from './limit-plan.ts';

/** How the service behaves; can be changed while it runs. Texts are those of the command's flags. */
export interface SwitchOptions {
  /** `rpc` (default), `rpc-string`, `google`, `problem`, `text`, `html`: see `ErrorStyle`. */
  readonly errorStyle?: string;
  /** `number` (default) or `string`. */
  readonly integers?: string;
  /** `snake` (default) or `camel`. */
  readonly case?: string;
  /** `keep` (default) or `reset`. */
  readonly omitted?: string;
  /** `400` (default) or `409`. */
  readonly notDeletedStatus?: string;
  /** `header` (default), `retry-info` or `none`. */
  readonly retryAfter?: string;
  /** `none` (default), `ratelimit`, `ratelimit-fields` or `x-ratelimit`: see `LimitHeaderStyle`. */
  readonly limitHeaders?: string;
  /** `429` (default) or `503`. */
  readonly limitStatus?: string;
  /** `none` (default), `gzip`, `br` or `deflate`, whatever the client accepts. */
  readonly compress?: string;
  /** `50ms`, or a range `20ms..80ms`. Default `0ms`. */
  readonly latency?: string;
  /** `none` (default) or `token-bucket:rate=50,burst=10`, and so on: see docs/sandbox.md, "Rate limits". */
  readonly limit?: string;
  /** `none` (default) or `reset=1%,timeout=0.5%`: see `faultKinds`. */
  readonly fault?: string;
  /** How late the second half of a body is with the fault `slow-body`. Default `5s`. */
  readonly slowBodyDelay?: string;
  /** Whether every call is refused with 403. Default false. */
  readonly forbidden?: boolean;
}

export const defaultSwitches = {
  errorStyle: choices.errorStyle[0],
  integers: choices.integers[0],
  case: choices.case[0],
  omitted: choices.omitted[0],
  notDeletedStatus: choices.notDeletedStatus[0],
  retryAfter: choices.retryAfter[0],
  limitHeaders: choices.limitHeaders[0],
  limitStatus: choices.limitStatus[0],
  compress: choices.compress[0],
  latency: '0ms',
  limit: 'none',
  fault: 'none',
  slowBodyDelay: '5s',
  forbidden: false,
} as const satisfies Required<SwitchOptions>;

/** The switches as the service uses them. */
export interface Switches extends DeliveryStyle {
  readonly omitted: OmittedFields;
  readonly notDeletedStatus: NotDeletedStatus;
  readonly latency: DurationRange;
  readonly limit: LimitPlan;
  readonly limitHeaders: LimitHeaderStyle;
  readonly limitStatus: LimitStatus;
  readonly faults: FaultShares;
  readonly forbidden: boolean;
}

/** All switches as texts: those that are given, among other options or not, and defaults for the rest. */
export function completeSwitches(options: SwitchOptions): Required<SwitchOptions> {
  const switches = Object.entries(options).filter(([name]) => name in defaultSwitches);
  return { ...defaultSwitches, ...Object.fromEntries(switches) };
}

/**
 * Reads the switches.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function readSwitches(given: Required<SwitchOptions>): Switches {
  const switches = {
    errorStyle: parseChoice('--error-style', 'errorStyle', given.errorStyle),
    integers: parseChoice('--integers', 'integers', given.integers),
    case: parseChoice('--case', 'case', given.case),
    omitted: parseChoice('--omitted', 'omitted', given.omitted),
    notDeletedStatus: parseChoice('--not-deleted-status', 'notDeletedStatus', given.notDeletedStatus),
    retryAfter: parseChoice('--retry-after', 'retryAfter', given.retryAfter),
    limitHeaders: parseChoice('--limit-headers', 'limitHeaders', given.limitHeaders),
    limitStatus: parseChoice('--limit-status', 'limitStatus', given.limitStatus),
    compress: parseChoice('--compress', 'compress', given.compress),
    latency: parseDurationRange('--latency', given.latency),
    limit: parseLimitPlan('--limit', given.limit),
    faults: parseFaults('--fault', given.fault),
    slowBodyDelay: parseDuration('--slow-body-delay', given.slowBodyDelay),
    forbidden: given.forbidden,
  };
  if (switches.retryAfter === 'retry-info' && !stylesWithDetails.includes(switches.errorStyle)) {
    throw usageError(
      'INVALID_OPTION',
      `--retry-after retry-info needs an --error-style with details: ${stylesWithDetails.join(', ')}`,
    );
  }
  return switches;
}

/**
 * Reads changes of switches from JSON.
 *
 * @throws CqbatchError `INVALID_OPTION` for unknown names and values of the wrong type.
 */
export function readSwitchChanges(json: unknown): SwitchOptions {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw usageError('INVALID_OPTION', 'the changes must be a JSON object');
  }
  const types = new Map(Object.entries(defaultSwitches).map(([name, value]) => [name, typeof value]));
  for (const [name, value] of Object.entries(json)) {
    const type = types.get(name);
    if (type === undefined) {
      throw usageError(
        'INVALID_OPTION',
        `there is no switch ${JSON.stringify(name)}; known switches: ${[...types.keys()].join(', ')}`,
      );
    }
    if (typeof value !== type) throw usageError('INVALID_OPTION', `${name} must be a ${type}`);
  }
  return json;
}
