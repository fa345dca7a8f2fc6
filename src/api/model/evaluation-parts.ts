import { decimal, flag, integer, list, type OpenEnum, object, text, time } from './reading.ts';

/** Interface document, section 2.3: element of `answers`. */
export interface EvaluationAnswer {
  readonly answerPoints?: number | undefined;
}

/** Interface document, section 2.3: element of `evaluation_questions`. */
export interface EvaluationQuestion {
  readonly evaluationQuestionId?: bigint | undefined;
  readonly evaluationId?: bigint | undefined;
  readonly scorecardQuestionId?: bigint | undefined;
  readonly skipped?: boolean | undefined;
  readonly points?: number | undefined;
  readonly answers?: readonly EvaluationAnswer[] | undefined;
  readonly evaluationSectionId?: bigint | undefined;
  readonly comment?: string | undefined;
  readonly sortOrder?: bigint | undefined;
}

/** Reads an evaluation question (section 2.3). */
export const evaluationQuestion = object<EvaluationQuestion>({
  evaluationQuestionId: integer,
  evaluationId: integer,
  scorecardQuestionId: integer,
  skipped: flag,
  points: decimal,
  answers: list(object<EvaluationAnswer>({ answerPoints: decimal })),
  evaluationSectionId: integer,
  comment: text,
  sortOrder: integer,
});

/** Value seen in the interface document, section 2.4; the complete set is not documented. */
export type RiskLevel = OpenEnum<'RISK_LEVEL_NONE'>;

/** Interface document, section 2.4: element of `auto_evaluation_questions`. */
export interface AutoEvaluationQuestion {
  readonly autoEvaluationQuestionId?: bigint | undefined;
  readonly autoEvaluationId?: bigint | undefined;
  readonly autoEvaluationSectionId?: bigint | undefined;
  readonly autoQuestionId?: bigint | undefined;
  readonly flagged?: readonly bigint[] | undefined;
  readonly passed?: boolean | undefined;
  readonly sortOrder?: bigint | undefined;
  readonly riskLevel?: RiskLevel | undefined;
  readonly expressionMatched?: boolean | undefined;
}

/** Reads an auto evaluation question (section 2.4). */
export const autoEvaluationQuestion = object<AutoEvaluationQuestion>({
  autoEvaluationQuestionId: integer,
  autoEvaluationId: integer,
  autoEvaluationSectionId: integer,
  autoQuestionId: integer,
  flagged: list(integer),
  passed: flag,
  sortOrder: integer,
  riskLevel: text,
  expressionMatched: flag,
});

/** Interface document, section 2.5: element of `custom_fields`. */
export interface CustomField {
  readonly key?: string | undefined;
  readonly field?: string | undefined;
}

/** Reads a custom field (section 2.5). */
export const customField = object<CustomField>({ key: text, field: text });

/** Interface document, section 2.2: element of `evaluation_sections`. */
export interface EvaluationSection {
  readonly evaluationSectionId?: bigint | undefined;
  readonly evaluationId?: bigint | undefined;
  readonly sectionId?: bigint | undefined;
  readonly points?: number | undefined;
  readonly possiblePoints?: number | undefined;
  readonly sortOrder?: bigint | undefined;
  /** Opaque time. */
  readonly deletedAt?: string | undefined;
  /** Opaque time. */
  readonly createdAt?: string | undefined;
  readonly evaluationQuestions?: readonly EvaluationQuestion[] | undefined;
  readonly autoEvaluationQuestions?: readonly AutoEvaluationQuestion[] | undefined;
  readonly skipped?: boolean | undefined;
}

/** Reads an evaluation section (section 2.2). */
export const evaluationSection = object<EvaluationSection>({
  evaluationSectionId: integer,
  evaluationId: integer,
  sectionId: integer,
  points: decimal,
  possiblePoints: decimal,
  sortOrder: integer,
  deletedAt: time,
  createdAt: time,
  evaluationQuestions: list(evaluationQuestion),
  autoEvaluationQuestions: list(autoEvaluationQuestion),
  skipped: flag,
});
