import type { z } from 'zod';
import {
  type CustomField,
  customField,
  type EvaluationSection,
  evaluationSection,
} from './evaluation-parts.ts';
import {
  decimal,
  type Fields,
  flag,
  integer,
  list,
  type OpenEnum,
  object,
  schemaOf,
  text,
  time,
} from './reading.ts';

/** Value seen in the interface document, section 3; the complete set is not documented. */
export type EvaluationState = OpenEnum<'EVALUATION_IN_PROGRESS'>;

/** Value seen in the interface document, section 2.1; the complete set is not documented. */
export type CallType = OpenEnum<'INBOUND'>;

/** Value seen in the interface document, section 2.1; the complete set is not documented. */
export type ChannelType = OpenEnum<'CHANNEL_TYPE_EMAIL'>;

/** Interface document, section 2.1: `call_metadata`. */
export interface CallMetadata {
  readonly callSid?: bigint | undefined;
  readonly callType?: CallType | undefined;
}

/** Interface document, section 2.1: `conversation_metadata`. */
export interface ConversationMetadata {
  readonly conversationSid?: bigint | undefined;
}

/** Interface document, section 2.1: the score of a call or conversation against a scorecard. */
export interface Evaluation {
  readonly evaluationId?: bigint | undefined;
  readonly scorecardId?: bigint | undefined;
  readonly scorerId?: string | undefined;
  readonly callSid?: bigint | undefined;
  readonly score?: number | undefined;
  /** Section 3. */
  readonly evaluationState?: EvaluationState | undefined;
  /** Section 2.2. */
  readonly evaluationSections?: readonly EvaluationSection[] | undefined;
  /** Opaque time. */
  readonly completedAt?: string | undefined;
  /** Opaque time; absent, or empty, when the evaluation is not deleted. */
  readonly deletedAt?: string | undefined;
  readonly agentUserId?: string | undefined;
  readonly callType?: CallType | undefined;
  readonly transcriptSid?: bigint | undefined;
  /** Section 2.5. */
  readonly customFields?: readonly CustomField[] | undefined;
  readonly deletedBy?: string | undefined;
  readonly isRecoverable?: boolean | undefined;
  readonly channelType?: ChannelType | undefined;
  readonly callMetadata?: CallMetadata | undefined;
  readonly conversationMetadata?: ConversationMetadata | undefined;
}

/** An evaluation without its sections and custom fields. */
export type EvaluationSummary = Omit<Evaluation, 'evaluationSections' | 'customFields'>;

const summaryFields: Fields<EvaluationSummary> = {
  evaluationId: integer,
  scorecardId: integer,
  scorerId: text,
  callSid: integer,
  score: decimal,
  evaluationState: text,
  completedAt: time,
  deletedAt: time,
  agentUserId: text,
  callType: text,
  transcriptSid: integer,
  deletedBy: text,
  isRecoverable: flag,
  channelType: text,
  callMetadata: object<CallMetadata>({ callSid: integer, callType: text }),
  conversationMetadata: object<ConversationMetadata>({ conversationSid: integer }),
};

/** Reads an evaluation (section 2.1). */
export const evaluation = object<Evaluation>({
  ...summaryFields,
  evaluationSections: list(evaluationSection),
  customFields: list(customField),
});

/** Reads an evaluation without its sections and custom fields: much quicker, for checking answers by the thousand. */
export const evaluationSummary = object<EvaluationSummary>(summaryFields);

/** An evaluation for zod. */
export const evaluationSchema: z.ZodType<Evaluation> = schemaOf(evaluation);
