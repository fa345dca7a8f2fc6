import { usageError } from '../../errors.ts';
import type { LimitSettings } from '../limits/limiter.ts';
import { parseAssignments } from './assignments.ts';

type LimitKind = LimitSettings['kind'];

/** How the parameters after `kind:` are read. */
const parsers: {
  readonly [Kind in LimitKind]: (parameters: Parameters) => LimitSettings & { readonly kind: Kind };
} = {
  none: () => ({ kind: 'none' }),
  'token-bucket': (parameters) => {
    const rate = parameters.number('rate', { min: 0.001 });
    const burst = parameters.number('burst', { min: 1, byDefault: Math.max(1, Math.ceil(rate)) });
    return { kind: 'token-bucket', rate, burst };
  },
};

/**
 * Reads a limit: `none`, or a kind and its parameters, `token-bucket:rate=50,burst=10` (requests per second; the
 * burst is a second's worth unless given, and at least 1).
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseLimit(option: string, text: string): LimitSettings {
  const [, name = '', rest] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  const kinds = Object.keys(parsers) as LimitKind[];
  const kind = kinds.find((candidate) => candidate === name);
  if (kind === undefined) {
    throw usageError(
      'INVALID_OPTION',
      `${option}: there is no limit ${JSON.stringify(name)}; known limits: ${kinds.join(', ')}`,
    );
  }
  const parameters = new Parameters(option, rest === undefined ? new Map() : parseAssignments(option, rest));
  const settings = parsers[kind](parameters);
  parameters.refuseUnread(kind);
  return settings;
}

class Parameters {
  readonly #option: string;
  readonly #given: ReadonlyMap<string, string>;
  readonly #read = new Set<string>();

  constructor(option: string, given: ReadonlyMap<string, string>) {
    this.#option = option;
    this.#given = given;
  }

  /** A number of at most nine digits before and after the point. Without a default it must be given. */
  number(name: string, { min, byDefault }: { readonly min: number; readonly byDefault?: number }): number {
    this.#read.add(name);
    const text = this.#given.get(name);
    if (text === undefined && byDefault !== undefined) return byDefault;
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text ?? '') ? Number(text) : Number.NaN;
    if (!(value >= min)) {
      throw usageError(
        'INVALID_OPTION',
        `${this.#option}: ${name} must be given as a number, ${min} or more`,
      );
    }
    return value;
  }

  refuseUnread(kind: string): void {
    for (const name of this.#given.keys()) {
      if (!this.#read.has(name)) {
        throw usageError('INVALID_OPTION', `${this.#option}: ${kind} has no parameter ${name}`);
      }
    }
  }
}
