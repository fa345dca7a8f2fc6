import { type Random, randomFor } from '../random.ts';
import { evaluationInProgress, type Integer, type Soundboard } from './entities.ts';

/**
 * The evaluation of that seed and identifier, deleted and recoverable. Two in three are of calls, the others of
 * conversations. Enumerated fields have the values that the interface document shows, and no others.
 */
export function generateEvaluation(seed: number, id: Integer) {
  const random = randomFor(seed, 'evaluation', id);
  const completedAt = generatedTime(random);
  const deletedAt = generatedTime(random, 'later');
  const agent = `agent-${random.integer(1, 200)}`;
  const sections = Array.from({ length: random.integer(1, 2) }, (_, index) =>
    section(random, id, index + 1, completedAt, deletedAt),
  );
  return {
    evaluation_id: id,
    scorecard_id: random.integer(1, 50),
    scorer_id: `scorer-${random.integer(1, 40)}`,
    ...(random.chance(2 / 3) ? callFields(random) : conversationFields(random)),
    score: scoreOf(sections),
    evaluation_state: evaluationInProgress,
    evaluation_sections: sections,
    completed_at: completedAt,
    deleted_at: deletedAt,
    deleted_by: `supervisor-${random.integer(1, 10)}`,
    agent_user_id: agent,
    transcript_sid: random.bigInteger(),
    custom_fields: [
      { key: 'team', field: `Team ${random.integer(1, 12)}` },
      { key: 'language', field: random.chance(0.5) ? 'en' : 'Français' },
    ],
    is_recoverable: true,
  };
}

function callFields(random: Random) {
  const callSid = random.integer(1_000_000, 99_999_999);
  return {
    call_sid: callSid,
    call_type: 'INBOUND',
    call_metadata: { call_sid: callSid, call_type: 'INBOUND' },
  };
}

function conversationFields(random: Random) {
  return {
    channel_type: 'CHANNEL_TYPE_EMAIL',
    conversation_metadata: { conversation_sid: random.bigInteger() },
  };
}

function section(
  random: Random,
  evaluationId: Integer,
  position: number,
  createdAt: string,
  deletedAt: string,
) {
  const sectionId = random.integer(1_000_000, 999_999_999);
  const questions = Array.from({ length: random.integer(1, 2) }, (_, index) =>
    question(random, evaluationId, sectionId, index + 1),
  );
  return {
    evaluation_section_id: sectionId,
    evaluation_id: evaluationId,
    section_id: random.integer(1, 400),
    points: questions.reduce((sum, { points }) => sum + points, 0),
    possible_points: questions.length * pointsPerQuestion,
    sort_order: position,
    deleted_at: deletedAt,
    created_at: createdAt,
    evaluation_questions: questions,
    auto_evaluation_questions: random.chance(0.5)
      ? [autoQuestion(random, evaluationId, sectionId, questions.length + 1)]
      : [],
    skipped: false,
  };
}

const pointsPerQuestion = 10;

function question(random: Random, evaluationId: Integer, sectionId: Integer, position: number) {
  const skipped = random.chance(0.1);
  const points = skipped ? 0 : random.integer(0, 2 * pointsPerQuestion) / 2;
  return {
    evaluation_question_id: random.integer(1_000_000, 999_999_999),
    evaluation_id: evaluationId,
    scorecard_question_id: random.integer(1, 2000),
    skipped,
    points,
    answers: skipped ? [] : [{ answer_points: points }],
    evaluation_section_id: sectionId,
    comment: random.chance(0.3) ? 'Greeted the caller; “named” the product — good.' : '',
    sort_order: position,
  };
}

function autoQuestion(random: Random, evaluationId: Integer, sectionId: Integer, position: number) {
  const passed = random.chance(0.8);
  return {
    auto_evaluation_question_id: random.integer(1_000_000, 999_999_999),
    auto_evaluation_id: evaluationId,
    auto_evaluation_section_id: sectionId,
    auto_question_id: random.integer(1, 2000),
    flagged: passed ? [] : [random.integer(1, 300), random.integer(301, 600)],
    passed,
    sort_order: position,
    risk_level: 'RISK_LEVEL_NONE',
    expression_matched: passed,
  };
}

/** Percentage of the possible points, to two decimals. */
function scoreOf(sections: readonly ReturnType<typeof section>[]): number {
  const points = sections.reduce((sum, section) => sum + section.points, 0);
  const possible = sections.reduce((sum, section) => sum + section.possible_points, 0);
  return Math.round((10_000 * points) / possible) / 100;
}

/** The soundboard entry of that seed and identifier: a WAV file of 8,000 bytes a second, its length in seconds. */
export function generateSoundboard(seed: number, id: Integer): Soundboard {
  const random = randomFor(seed, 'soundboard', id);
  const seconds = random.integer(2, 300);
  return {
    soundboard_id: id,
    file_name: `recording-${id}.wav`,
    file_type: 'RECORDING_FILE_TYPE_WAV',
    title: `Recording ${id}`,
    description: random.chance(0.5) ? `Played in queue ${random.integer(1, 30)}` : '',
    date_created: generatedTime(random),
    last_modified: generatedTime(random, 'later'),
    file_size: 44 + 8000 * seconds,
    recording_length: seconds,
  };
}

const start = Date.UTC(2024, 0, 1);
const halfYear = 182 * 24 * 3600;

/**
 * A generated time, RFC 3339 in UTC with whole seconds (the document leaves the format open, section 2.7): in the
 * first half of 2024, or `later`, in the second.
 */
function generatedTime(random: Random, half: 'earlier' | 'later' = 'earlier'): string {
  const seconds = random.integer(0, halfYear - 1) + (half === 'later' ? halfYear : 0);
  return formatTime(start + seconds * 1000);
}

/** A time in milliseconds since 1970 as RFC 3339 in UTC, without fractions of a second. */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
