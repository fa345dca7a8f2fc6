/**
 * The evaluation of the interface document, section 2.1 to 2.5. Every field may be absent, as the document does not
 * say which are required (2.7); an evaluation from a state file may have further fields.
 */

import type { Integer } from './integer.ts';

/** Section 2.1. */
export interface Evaluation {
  readonly evaluation_id: Integer;
  readonly scorecard_id?: Integer;
  readonly scorer_id?: string;
  readonly call_sid?: Integer;
  readonly score?: number;
  readonly evaluation_state?: string;
  readonly evaluation_sections?: readonly EvaluationSection[];
  readonly completed_at?: string;
  readonly deleted_at?: string;
  readonly agent_user_id?: string;
  readonly call_type?: string;
  readonly transcript_sid?: Integer;
  readonly custom_fields?: readonly CustomField[];
  readonly deleted_by?: string;
  readonly is_recoverable?: boolean;
  readonly channel_type?: string;
  readonly call_metadata?: { readonly call_sid?: Integer; readonly call_type?: string };
  readonly conversation_metadata?: { readonly conversation_sid?: Integer };
}

/** Section 2.2. */
export interface EvaluationSection {
  readonly evaluation_section_id?: Integer;
  readonly evaluation_id?: Integer;
  readonly section_id?: Integer;
  readonly points?: number;
  readonly possible_points?: number;
  readonly sort_order?: Integer;
  readonly deleted_at?: string;
  readonly created_at?: string;
  readonly evaluation_questions?: readonly EvaluationQuestion[];
  readonly auto_evaluation_questions?: readonly AutoEvaluationQuestion[];
  readonly skipped?: boolean;
}

/** Section 2.3. */
export interface EvaluationQuestion {
  readonly evaluation_question_id?: Integer;
  readonly evaluation_id?: Integer;
  readonly scorecard_question_id?: Integer;
  readonly skipped?: boolean;
  readonly points?: number;
  readonly answers?: readonly { readonly answer_points?: number }[];
  readonly evaluation_section_id?: Integer;
  readonly comment?: string;
  readonly sort_order?: Integer;
}

/** Section 2.4. */
export interface AutoEvaluationQuestion {
  readonly auto_evaluation_question_id?: Integer;
  readonly auto_evaluation_id?: Integer;
  readonly auto_evaluation_section_id?: Integer;
  readonly auto_question_id?: Integer;
  readonly flagged?: readonly Integer[];
  readonly passed?: boolean;
  readonly sort_order?: Integer;
  readonly risk_level?: string;
  readonly expression_matched?: boolean;
}

/** Section 2.5. */
interface CustomField {
  readonly key?: string;
  readonly field?: string;
}

/** The only state that the document shows (section 3); the sandbox knows no other. */
export const evaluationInProgress = 'EVALUATION_IN_PROGRESS';

/** Whether the evaluation is deleted: `deleted_at` says it. */
export function isDeleted(evaluation: Evaluation): boolean {
  return evaluation.deleted_at !== undefined;
}

/** The evaluation after a restore: no trace of the deletion, in it or in its sections. */
export function restored(evaluation: Evaluation): Evaluation {
  const { deleted_at, deleted_by, evaluation_sections, ...rest } = evaluation;
  return {
    ...rest,
    evaluation_state: evaluationInProgress,
    ...(evaluation_sections && { evaluation_sections: evaluation_sections.map(withoutDeletion) }),
  };
}

function withoutDeletion({ deleted_at, ...section }: EvaluationSection): EvaluationSection {
  return section;
}
