import type { z } from 'zod';
import { flag, integer, integers, type OpenEnum, object, text } from './tolerant.ts';

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
export const autoEvaluationQuestionSchema: z.ZodType<AutoEvaluationQuestion> = object<AutoEvaluationQuestion>(
  {
    autoEvaluationQuestionId: integer,
    autoEvaluationId: integer,
    autoEvaluationSectionId: integer,
    autoQuestionId: integer,
    flagged: integers,
    passed: flag,
    sortOrder: integer,
    riskLevel: text,
    expressionMatched: flag,
  },
);
