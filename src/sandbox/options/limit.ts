import { usageError } from '../../errors.ts';
import type { KindSettings, LimitSettings } from '../limits/create-limiter.ts';
import { parseAssignments } from './assignments.ts';
import { LimitParameters } from './limit-parameters.ts';

type LimitKind = KindSettings['kind'];

/** How the parameters after `kind:` are read. */
const parsers: {
  readonly [Kind in LimitKind]: (parameters: LimitParameters) => KindSettings & { readonly kind: Kind };
} = {
  'token-bucket': (parameters) => {
    const rate = parameters.number('rate', { min: 0.001 });
    const burst = parameters.number('burst', { min: 1, byDefault: Math.max(1, Math.ceil(rate)) });
    return { kind: 'token-bucket', rate, burst };
  },
  'leaky-bucket': (parameters) => ({
    kind: 'leaky-bucket',
    rate: parameters.number('rate', { min: 0.001 }),
    queue: parameters.wholeNumber('queue', { min: 0 }),
  }),
  'fixed-window': (parameters) => ({
    kind: 'fixed-window',
    limit: parameters.wholeNumber('limit', { min: 1 }),
    window: parameters.duration('window'),
    align: parameters.word('align', ['clock', 'first']),
  }),
  'sliding-window': (parameters) => ({
    kind: 'sliding-window',
    limit: parameters.wholeNumber('limit', { min: 1 }),
    window: parameters.duration('window'),
  }),
  concurrency: (parameters) => ({
    kind: 'concurrency',
    limit: parameters.wholeNumber('limit', { min: 1 }),
  }),
  'daily-quota': (parameters) => ({
    kind: 'daily-quota',
    limit: parameters.wholeNumber('limit', { min: 1 }),
  }),
};

const kinds = Object.keys(parsers) as LimitKind[];

/**
 * Reads a limit: `none`, or a kind and its parameters, such as `token-bucket:rate=50,burst=10,per=token`.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseLimit(option: string, text: string): LimitSettings {
  const [, name = '', rest] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  const kind = kinds.find((candidate) => candidate === name);
  if (kind === undefined && name !== 'none') {
    throw usageError(
      'INVALID_OPTION',
      `${option}: there is no limit ${JSON.stringify(name)}; known limits: ${['none', ...kinds].join(', ')}`,
    );
  }
  const given = rest === undefined ? new Map<string, string>() : parseAssignments(option, rest);
  const parameters = new LimitParameters(option, given);
  const settings: LimitSettings =
    kind === undefined
      ? { kind: 'none' }
      : { ...parsers[kind](parameters), per: parameters.word('per', ['all', 'token']) };
  parameters.refuseUnread(settings.kind);
  return settings;
}
