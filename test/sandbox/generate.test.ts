import { expect, test } from 'vitest';
import { generateEvaluation } from '../../src/sandbox/generate.ts';
import { generateSoundboard } from '../../src/sandbox/soundboard.ts';

const evaluations = Array.from({ length: 200 }, (_, index) => generateEvaluation(1n, BigInt(index + 1)));

/** The names of all fields in a value, at any depth. */
function fieldNames(value: unknown, names = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return names;
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) names.add(name);
    fieldNames(inner, names);
  }
  return names;
}

test('seed and identifier decide everything', () => {
  expect(generateEvaluation(3n, 17n)).toEqual(generateEvaluation(3n, 17n));
  expect(generateEvaluation(4n, 17n)).not.toEqual(generateEvaluation(3n, 17n));
  expect(generateSoundboard(3n, 17n)).toEqual(generateSoundboard(3n, 17n));
  expect(generateSoundboard(4n, 17n)).not.toEqual(generateSoundboard(3n, 17n));
});

/** Section 2 of the interface document. */
const evaluationFields = `
  evaluation_id scorecard_id scorer_id call_sid score evaluation_state evaluation_sections completed_at deleted_at agent_user_id
  call_type transcript_sid custom_fields deleted_by is_recoverable channel_type call_metadata conversation_metadata
  conversation_sid evaluation_section_id section_id points possible_points sort_order created_at evaluation_questions
  auto_evaluation_questions skipped evaluation_question_id scorecard_question_id answers answer_points comment
  auto_evaluation_question_id auto_evaluation_id auto_evaluation_section_id auto_question_id flagged passed risk_level
  expression_matched key field`;
/** Section 2.6. */
const soundboardFields = `
  soundboard_id file_name file_type title description date_created last_modified file_size recording_length`;

test.each([
  ['evaluations together have', evaluations, evaluationFields],
  ['a soundboard entry has', generateSoundboard(1n, 5n), soundboardFields],
])('%s every field of the interface document', (_, generated, fields) => {
  expect([...fieldNames(generated)].sort()).toEqual(fields.trim().split(/\s+/).sort());
});
