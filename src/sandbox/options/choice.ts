import { usageError } from '../../errors.ts';
import type { LogBody } from '../log/log-entry.ts';
import type { OmittedFields } from '../model/soundboard.ts';
import type { Compression } from '../service/delivery.ts';
import type { NotDeletedStatus } from '../service/endpoint.ts';
import type { ErrorStyle, RetryAfterStyle } from '../service/error-body.ts';
import type { LimitStatus } from '../service/gate.ts';
import type { LimitHeaderStyle } from '../service/limit-headers.ts';
import type { IntegerStyle, KeyCase } from '../service/wire.ts';

/** The options that choose one of a few words, each with its words; the first is the default. */
export const choices = {
  errorStyle: ['rpc', 'rpc-string', 'google', 'problem', 'text', 'html'],
  integers: ['number', 'string'],
  case: ['snake', 'camel'],
  omitted: ['keep', 'reset'],
  notDeletedStatus: ['400', '409'],
  retryAfter: ['header', 'retry-info', 'none'],
  limitHeaders: ['none', 'ratelimit', 'ratelimit-fields', 'x-ratelimit'],
  limitStatus: ['429', '503'],
  compress: ['none', 'gzip', 'br', 'deflate'],
  logBody: ['sha256', 'text', 'none'],
} as const satisfies {
  readonly errorStyle: readonly ErrorStyle[];
  readonly integers: readonly IntegerStyle[];
  readonly case: readonly KeyCase[];
  readonly omitted: readonly OmittedFields[];
  readonly notDeletedStatus: readonly NotDeletedStatus[];
  readonly retryAfter: readonly RetryAfterStyle[];
  readonly limitHeaders: readonly LimitHeaderStyle[];
  readonly limitStatus: readonly LimitStatus[];
  readonly compress: readonly Compression[];
  readonly logBody: readonly LogBody[];
};

export type ChoiceName = keyof typeof choices;

/** A word of an option. */
export type Choice<Name extends ChoiceName> = (typeof choices)[Name][number];

/**
 * Reads one of an option's words.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseChoice<Name extends ChoiceName>(option: string, name: Name, text: string): Choice<Name> {
  const words: readonly Choice<Name>[] = choices[name];
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) {
    throw usageError('INVALID_OPTION', `${option}: ${JSON.stringify(text)} is none of ${words.join(', ')}`);
  }
  return word;
}
