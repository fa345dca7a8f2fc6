import {
  decimal,
  flag,
  integer,
  list,
  type OpenEnum,
  object,
  type Read,
  type ReadBy,
  text,
  time,
} from './reading.ts';

/** Value seen in the interface document, section 2.4; the complete set is not documented. */
export type RiskLevel = OpenEnum<'RISK_LEVEL_NONE'>;

const evaluationAnswer = object({ answerPoints: decimal });

const evaluationQuestion = object({
  evaluationQuestionId: integer,
  evaluationId: integer,
  scorecardQuestionId: integer,
  skipped: flag,
  points: decimal,
  answers: list(evaluationAnswer),
  evaluationSectionId: integer,
  comment: text,
  sortOrder: integer,
});

const autoEvaluationQuestion = object({
  autoEvaluationQuestionId: integer,
  autoEvaluationId: integer,
  autoEvaluationSectionId: integer,
  autoQuestionId: integer,
  flagged: list(integer),
  passed: flag,
  sortOrder: integer,
  riskLevel: text as Read<RiskLevel>,
  expressionMatched: flag,
});

export const evaluationSection = object({
  evaluationSectionId: integer,
  evaluationId: integer,
  sectionId: integer,
  points: decimal,
  possiblePoints: decimal,
  sortOrder: integer,
  /** Opaque time. */
  deletedAt: time,
  /** Opaque time. */
  createdAt: time,
  evaluationQuestions: list(evaluationQuestion),
  autoEvaluationQuestions: list(autoEvaluationQuestion),
  skipped: flag,
});

export const customField = object({ key: text, field: text });

/** Interface document, section 2.2: element of `evaluation_sections`. */
export interface EvaluationSection extends ReadBy<typeof evaluationSection> {}

/** Interface document, section 2.3: element of `evaluation_questions`. */
export interface EvaluationQuestion extends ReadBy<typeof evaluationQuestion> {}

/** Interface document, section 2.3: element of `answers`. */
export interface EvaluationAnswer extends ReadBy<typeof evaluationAnswer> {}

/** Interface document, section 2.4: element of `auto_evaluation_questions`. */
export interface AutoEvaluationQuestion extends ReadBy<typeof autoEvaluationQuestion> {}

/** Interface document, section 2.5: element of `custom_fields`. */
export interface CustomField extends ReadBy<typeof customField> {}
