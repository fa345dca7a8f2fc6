import type { z } from 'zod';
import { decimal, flag, integer, list, object, text } from './tolerant.ts';

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
export const evaluationQuestionSchema: z.ZodType<EvaluationQuestion> = object<EvaluationQuestion>({
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
