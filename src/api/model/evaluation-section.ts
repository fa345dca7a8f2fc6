import type { z } from 'zod';
import { type AutoEvaluationQuestion, autoEvaluationQuestionSchema } from './auto-evaluation-question.ts';
import { type EvaluationQuestion, evaluationQuestionSchema } from './evaluation-question.ts';
import { decimal, flag, integer, list, object, time } from './tolerant.ts';

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
export const evaluationSectionSchema: z.ZodType<EvaluationSection> = object<EvaluationSection>({
  evaluationSectionId: integer,
  evaluationId: integer,
  sectionId: integer,
  points: decimal,
  possiblePoints: decimal,
  sortOrder: integer,
  deletedAt: time,
  createdAt: time,
  evaluationQuestions: list(evaluationQuestionSchema),
  autoEvaluationQuestions: list(autoEvaluationQuestionSchema),
  skipped: flag,
});
