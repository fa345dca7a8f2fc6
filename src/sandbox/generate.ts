import { type Random, randomFor } from './random.ts';

/**
 * A deleted, recoverable evaluation: two in three are of calls, the others of conversations. Enumerated fields have only the values of the
 * interface document.
 */
export function generateEvaluation(seed: bigint, id: bigint) {
  const random = randomFor(seed, 'evaluation', id);
  const completedAt = generatedTime(random, 'first');
  const isOfAccident = id >= accidentalDeletions.firstId && id <= accidentalDeletions.lastId;
  const deletedAt = isOfAccident
    ? formatTime(accidentalDeletions.start + 1000 * random.integer(0, accidentalDeletions.seconds))
    : generatedTime(random, 'second');
  const call = { call_sid: random.integer(1_000_000, 99_999_999), call_type: 'INBOUND' };
  const sections = oneOrTwo(random, (position) => ({
    ...generateSection(random, id, position),
    created_at: completedAt,
    deleted_at: deletedAt,
  }));
  return {
    evaluation_id: id,
    scorecard_id: random.integer(1, 50),
    scorer_id: `scorer-${random.integer(1, 40)}`,
    ...(random.chance(2 / 3)
      ? { ...call, call_metadata: call }
      : {
          channel_type: 'CHANNEL_TYPE_EMAIL',
          conversation_metadata: { conversation_sid: random.bigInteger() },
        }),
    // A score, in percent of the possible points.
    score: Math.round((10_000 * sumOf(sections, 'points')) / sumOf(sections, 'possible_points')) / 100,
    evaluation_state: 'EVALUATION_IN_PROGRESS',
    evaluation_sections: sections,
    completed_at: completedAt,
    deleted_at: deletedAt,
    deleted_by: isOfAccident ? accidentalDeletions.user : deleterOf(random, deletedAt),
    agent_user_id: `agent-${random.integer(1, 200)}`,
    transcript_sid: random.bigInteger(),
    custom_fields: [
      { key: 'team', field: `Team ${random.integer(1, 12)}` },
      { key: 'language', field: random.chance(0.5) ? 'en' : 'Français' },
    ],
    is_recoverable: true,
  };
}

/**
 * One user deleted many evaluations in one afternoon, 412 of the default content, in which four of these are not deleted. The same user
 * deleted others before, and other users deleted some after it, so that neither the user nor the day alone chooses them.
 */
const accidentalDeletions = {
  firstId: 201n,
  lastId: 616n,
  user: 'u-17',
  start: Date.UTC(2024, 11, 12, 13),
  seconds: 3 * 3600,
};

function deleterOf(random: Random, deletedAt: string): string {
  return `u-${random.integer(11, Date.parse(deletedAt) < accidentalDeletions.start ? 20 : 16)}`;
}

const pointsPerQuestion = 10;

function generateSection(random: Random, evaluationId: bigint, position: number) {
  const sectionId = random.integer(1_000_000, 999_999_999);
  const questions = oneOrTwo(random, (position) => {
    const points = random.integer(0, 2 * pointsPerQuestion) / 2;
    return {
      evaluation_question_id: random.integer(1_000_000, 999_999_999),
      evaluation_id: evaluationId,
      scorecard_question_id: random.integer(1, 2000),
      skipped: false,
      points,
      answers: [{ answer_points: points }],
      evaluation_section_id: sectionId,
      comment: random.chance(0.3) ? 'Greeted the caller; “named” the product — good.' : '',
      sort_order: position,
    };
  });
  const passed = random.chance(0.8);
  const autoQuestion = {
    auto_evaluation_question_id: random.integer(1_000_000, 999_999_999),
    auto_evaluation_id: evaluationId,
    auto_evaluation_section_id: sectionId,
    auto_question_id: random.integer(1, 2000),
    flagged: passed ? [] : [random.integer(1, 300), random.integer(301, 600)],
    passed,
    sort_order: questions.length + 1,
    risk_level: 'RISK_LEVEL_NONE',
    expression_matched: passed,
  };
  return {
    evaluation_section_id: sectionId,
    evaluation_id: evaluationId,
    section_id: random.integer(1, 400),
    points: sumOf(questions, 'points'),
    possible_points: questions.length * pointsPerQuestion,
    sort_order: position,
    evaluation_questions: questions,
    auto_evaluation_questions: random.chance(0.5) ? [autoQuestion] : [],
    skipped: false,
  };
}

function oneOrTwo<Thing>(random: Random, generate: (position: number) => Thing): Thing[] {
  return Array.from({ length: random.integer(1, 2) }, (_, index) => generate(index + 1));
}

function sumOf<Key extends string>(things: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return things.reduce((sum, thing) => sum + thing[key], 0);
}

const firstDay = Date.UTC(2024, 0, 1);
const halfYearSeconds = 182 * 24 * 3600;

export function generatedTime(random: Random, half: 'first' | 'second'): string {
  const seconds = random.integer(0, halfYearSeconds - 1) + (half === 'second' ? halfYearSeconds : 0);
  return formatTime(firstDay + seconds * 1000);
}

/** RFC 3339 in UTC, in whole seconds, because the document leaves the format open (section 2.7). */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
