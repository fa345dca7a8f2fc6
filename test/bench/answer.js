// @ts-check

const id = '#id#';

const question = (/** @type {number} */ position) => ({
  evaluation_question_id: 40_201 + position,
  scorecard_question_id: 301 + position,
  skipped: false,
  points: 7.5,
  answers: [{ answer_points: 7.5 }],
  evaluation_section_id: 5_102,
  comment: 'Greeted the caller, named the product, asked for the order number.',
  sort_order: position,
});

const section = {
  evaluation_section_id: 5_102,
  section_id: 44,
  points: 15,
  possible_points: 20,
  sort_order: 1,
  created_at: '2026-02-03T10:15:00Z',
  evaluation_questions: [question(1), question(2)],
  skipped: false,
};

const evaluation = {
  evaluation_id: id,
  scorecard_id: 17,
  scorer_id: 'scorer-12',
  call_sid: 83_120_045,
  call_type: 'INBOUND',
  call_metadata: { call_sid: 83_120_045, call_type: 'INBOUND' },
  score: 87.5,
  evaluation_state: 'EVALUATION_IN_PROGRESS',
  evaluation_sections: [section],
  completed_at: '2026-02-03T10:22:31Z',
  agent_user_id: 'agent-148',
  transcript_sid: 7_301_882,
  custom_fields: [{ key: 'team', field: 'Team 4' }],
  is_recoverable: true,
};

const parts = JSON.stringify({ evaluation }).split(`"${id}"`);

/** The answer to the restore of an evaluation: about 1 KB of JSON that contains its identifier. */
export function restoreAnswer(/** @type {string} */ evaluationId) {
  return parts.join(evaluationId);
}
