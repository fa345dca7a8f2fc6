import type { z } from 'zod';
import { customField, evaluationSection } from './evaluation-parts.ts';
import {
  decimal,
  flag,
  integer,
  list,
  type OpenEnum,
  object,
  type Read,
  type ReadBy,
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

const callMetadata = object({ callSid: integer, callType: text as Read<CallType> });
const conversationMetadata = object({ conversationSid: integer });

const summaryFields = {
  evaluationId: integer,
  scorecardId: integer,
  scorerId: text,
  callSid: integer,
  score: decimal,
  /** Section 3. */
  evaluationState: text as Read<EvaluationState>,
  /** Opaque time. */
  completedAt: time,
  /** Opaque time; absent, or empty, when the evaluation is not deleted. */
  deletedAt: time,
  agentUserId: text,
  callType: text as Read<CallType>,
  transcriptSid: integer,
  deletedBy: text,
  isRecoverable: flag,
  channelType: text as Read<ChannelType>,
  callMetadata,
  conversationMetadata,
};

/** Reads an evaluation. */
export const evaluation = object({
  ...summaryFields,
  /** Section 2.2. */
  evaluationSections: list(evaluationSection),
  /** Section 2.5. */
  customFields: list(customField),
});

/** Reads an evaluation without its sections and custom fields: much quicker, for checking answers by the thousand. */
export const evaluationSummary = object(summaryFields);

/** Interface document, section 2.1: `call_metadata`. */
export interface CallMetadata extends ReadBy<typeof callMetadata> {}

/** Interface document, section 2.1: `conversation_metadata`. */
export interface ConversationMetadata extends ReadBy<typeof conversationMetadata> {}

/** Interface document, section 2.1: the score of a call or conversation against a scorecard. */
export interface Evaluation extends ReadBy<typeof evaluation> {}

/** An evaluation without its sections and custom fields. */
export interface EvaluationSummary extends ReadBy<typeof evaluationSummary> {}

/** An evaluation for zod. */
export const evaluationSchema: z.ZodType<Evaluation> = schemaOf(evaluation);
