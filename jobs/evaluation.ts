/** An evaluation (interface document, sections 2.1 to 2.5), as answers have it. */

import type { z } from 'zod';
import {
  decimal,
  entityId,
  flag,
  integer,
  listOf,
  type OpenEnum,
  object,
  type Read,
  type ReadBy,
  schemaOf,
  text,
  time,
} from '../src/engine/api/reading.ts';

/** Section 2.4. */
export type RiskLevel = OpenEnum<'RISK_LEVEL_NONE'>;

/** Section 2.3: element of `answers`. */
const evaluationAnswer = object({ answerPoints: decimal });

/** Section 2.3: element of `evaluation_questions`. */
const evaluationQuestion = object({
  evaluationQuestionId: entityId,
  evaluationId: entityId,
  scorecardQuestionId: entityId,
  skipped: flag,
  points: decimal,
  answers: listOf(evaluationAnswer),
  evaluationSectionId: entityId,
  comment: text,
  sortOrder: integer,
});

/** Section 2.4: element of `auto_evaluation_questions`. */
const autoEvaluationQuestion = object({
  autoEvaluationQuestionId: entityId,
  autoEvaluationId: entityId,
  autoEvaluationSectionId: entityId,
  autoQuestionId: entityId,
  flagged: listOf(integer),
  passed: flag,
  sortOrder: integer,
  riskLevel: text as Read<RiskLevel>,
  expressionMatched: flag,
});

/** Section 2.2: element of `evaluation_sections`. */
const evaluationSection = object({
  evaluationSectionId: entityId,
  evaluationId: entityId,
  sectionId: entityId,
  points: decimal,
  possiblePoints: decimal,
  sortOrder: integer,
  deletedAt: time,
  createdAt: time,
  evaluationQuestions: listOf(evaluationQuestion),
  autoEvaluationQuestions: listOf(autoEvaluationQuestion),
  skipped: flag,
});

/** Section 2.5: element of `custom_fields`. */
const customField = object({ key: text, field: text });

/** Section 3. */
export type EvaluationState = OpenEnum<'EVALUATION_IN_PROGRESS'>;

/** Section 2.1. */
export type CallType = OpenEnum<'INBOUND'>;

/** Section 2.1. */
export type ChannelType = OpenEnum<'CHANNEL_TYPE_EMAIL'>;

/** Section 2.1: `call_metadata`. */
const callMetadata = object({ callSid: entityId, callType: text as Read<CallType> });
/** Section 2.1: `conversation_metadata`. */
const conversationMetadata = object({ conversationSid: entityId });

const summaryFields = {
  evaluationId: entityId,
  scorecardId: entityId,
  scorerId: text,
  callSid: entityId,
  score: decimal,
  evaluationState: text as Read<EvaluationState>,
  completedAt: time,
  /** Opaque; absent, or empty, when the evaluation is not deleted. */
  deletedAt: time,
  agentUserId: text,
  callType: text as Read<CallType>,
  transcriptSid: entityId,
  deletedBy: text,
  isRecoverable: flag,
  channelType: text as Read<ChannelType>,
  callMetadata,
  conversationMetadata,
};

export const evaluation = object({
  ...summaryFields,
  evaluationSections: listOf(evaluationSection),
  customFields: listOf(customField),
});

/** An evaluation without sections and custom fields: much faster to read. */
export const evaluationSummary = object(summaryFields);

/** Section 2.1: the score of a call or conversation against a scorecard. */
export interface Evaluation extends ReadBy<typeof evaluation> {}

export interface EvaluationSummary extends ReadBy<typeof evaluationSummary> {}

/** The schema for parsed JSON; leaves out unknown and unreadable fields. */
export const evaluationSchema: z.ZodType<Evaluation> = schemaOf(evaluation);
