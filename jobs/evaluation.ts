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

/** A level of risk (interface document, section 2.4). */
export type RiskLevel = OpenEnum<'RISK_LEVEL_NONE'>;

/** The points of an answer: an element of `answers` (interface document, section 2.3). */
const evaluationAnswer = object({ answerPoints: decimal });

/** A question: an element of `evaluation_questions` (interface document, section 2.3). */
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

/** An automatic question: an element of `auto_evaluation_questions` (interface document, section 2.4). */
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

/** A section: an element of `evaluation_sections` (interface document, section 2.2). */
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

/** A custom field: an element of `custom_fields` (interface document, section 2.5). */
const customField = object({ key: text, field: text });

/** The state of an evaluation (interface document, section 3). */
export type EvaluationState = OpenEnum<'EVALUATION_IN_PROGRESS'>;

/** The type of a call (interface document, section 2.1). */
export type CallType = OpenEnum<'INBOUND'>;

/** The type of a channel (interface document, section 2.1). */
export type ChannelType = OpenEnum<'CHANNEL_TYPE_EMAIL'>;

/** The call of an evaluation: `call_metadata` (interface document, section 2.1). */
const callMetadata = object({ callSid: entityId, callType: text as Read<CallType> });
/** The conversation of an evaluation: `conversation_metadata` (interface document, section 2.1). */
const conversationMetadata = object({ conversationSid: entityId });

const summaryFields = {
  evaluationId: entityId,
  scorecardId: entityId,
  scorerId: text,
  callSid: entityId,
  score: decimal,
  evaluationState: text as Read<EvaluationState>,
  completedAt: time,
  /** When the evaluation was deleted, in an undocumented format. Absent or empty when it is not deleted. */
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

/** Reads an evaluation without sections and custom fields, which is much faster. */
export const evaluationSummary = object(summaryFields);

/** The score of a call or conversation against a scorecard (interface document, section 2.1). */
export interface Evaluation extends ReadBy<typeof evaluation> {}

export interface EvaluationSummary extends ReadBy<typeof evaluationSummary> {}

/** Reads an evaluation from parsed JSON. Leaves out unknown and unreadable fields. */
export const evaluationSchema: z.ZodType<Evaluation> = schemaOf(evaluation);
