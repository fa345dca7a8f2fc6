/** The messages of answers (interface document, section 2) as Protocol Buffers write them in JSON. */

import { callTypes, channelTypes, evaluationStates, riskLevels } from './enums.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface FieldKind {
  /** The value of an unset field, written only with zero values. */
  readonly zero: unknown;
  readonly write: (value: never, withZeros: boolean) => unknown;
}

export interface Message extends FieldKind {
  readonly write: (fields: Fields, withZeros: boolean) => Fields;
}

const writeUnchanged = (value: unknown): unknown => value;

const int32: FieldKind = { zero: 0, write: writeUnchanged };
export const int64: FieldKind = { zero: '0', write: String };
const double: FieldKind = int32;
export const string: FieldKind = { zero: '', write: writeUnchanged };
const flag: FieldKind = { zero: false, write: writeUnchanged };
/** Careless servers write the first moment of the year 1 for an unset time. */
export const timestamp: FieldKind = { zero: '0001-01-01T00:00:00Z', write: writeUnchanged };

export function oneOf([zero]: readonly [string, ...string[]]): FieldKind {
  return { zero, write: writeUnchanged };
}

export function repeated(kind: FieldKind): FieldKind {
  return {
    zero: [],
    write: (values: readonly never[], withZeros) => values.map((value) => kind.write(value, withZeros)),
  };
}

export function message(kinds: Readonly<Record<string, FieldKind>>): Message {
  const fields = Object.entries(kinds).map(([name, kind]) => ({ name, key: camelCase(name), ...kind }));
  return {
    zero: null,
    write(given, withZeros) {
      const written: Record<string, unknown> = {};
      for (const { name, key, zero, write } of fields) {
        const isSet = given[name] !== undefined;
        const value = isSet ? write(given[name] as never, withZeros) : zero;
        if (withZeros || (isSet && !isZero(value, zero))) written[key] = value;
      }
      return written;
    },
  };
}

function isZero(value: unknown, zero: unknown): boolean {
  return value === zero || (Array.isArray(value) && value.length === 0);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const call = { call_sid: int64, call_type: oneOf(callTypes) };

const question = message({
  evaluation_question_id: int64,
  evaluation_id: int64,
  scorecard_question_id: int64,
  skipped: flag,
  points: double,
  answers: repeated(message({ answer_points: double })),
  evaluation_section_id: int64,
  comment: string,
  sort_order: int32,
});

const autoQuestion = message({
  auto_evaluation_question_id: int64,
  auto_evaluation_id: int64,
  auto_evaluation_section_id: int64,
  auto_question_id: int64,
  flagged: repeated(int64),
  passed: flag,
  sort_order: int32,
  risk_level: oneOf(riskLevels),
  expression_matched: flag,
});

const section = message({
  evaluation_section_id: int64,
  evaluation_id: int64,
  section_id: int64,
  points: double,
  possible_points: double,
  sort_order: int32,
  deleted_at: timestamp,
  created_at: timestamp,
  evaluation_questions: repeated(question),
  auto_evaluation_questions: repeated(autoQuestion),
  skipped: flag,
});

const evaluation = message({
  evaluation_id: int64,
  scorecard_id: int64,
  scorer_id: string,
  ...call,
  score: double,
  evaluation_state: oneOf(evaluationStates),
  evaluation_sections: repeated(section),
  completed_at: timestamp,
  deleted_at: timestamp,
  agent_user_id: string,
  transcript_sid: int64,
  custom_fields: repeated(message({ key: string, field: string })),
  deleted_by: string,
  is_recoverable: flag,
  channel_type: oneOf(channelTypes),
  call_metadata: message(call),
  conversation_metadata: message({ conversation_sid: int64 }),
});

/** The answer of a restore, and of a read of one evaluation. */
export const evaluationAnswer = message({ evaluation });
export const evaluationPage = message({ evaluations: repeated(evaluation), next_page_token: string });
export const updateAnswer = message({ soundboard_id: int64 });
