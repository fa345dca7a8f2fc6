import type { z } from 'zod';
import { stringifyJson } from '../base/text/json.ts';
import { type Decision, refuse } from './answer.ts';
import { changeEvaluation, soundboardsBetweenChanges } from './changing.ts';
import { badRequest } from './error-details.ts';
import { evaluationPage } from './messages.ts';
import { randomFor } from './random.ts';
import {
  bound,
  identifiers,
  pageSize,
  type RequestFields,
  text,
  texts,
  trueOrFalse,
} from './request-fields.ts';
import { soundboard, soundboardsAnswer } from './soundboard.ts';
import type { Evaluation, State } from './state.ts';

/** The fields of a request for a page. The public description has more filters, and an order. */
export function evaluationsQuery({ message }: RequestFields) {
  return message({
    is_deleted: trueOrFalse,
    page_size: pageSize,
    page_token: text,
    agent_user_ids: texts,
    scorecard_ids: identifiers,
    completed_at: message({ eq: bound, gte: bound, lte: bound, gt: bound, lt: bound }).nullish(),
  });
}

type EvaluationsQuery = z.output<ReturnType<typeof evaluationsQuery>>;

/**
 * A page of evaluations in the order of their identifiers. A page token holds the last identifier that was examined, so a page costs
 * the same anywhere in the list. A page without enough matches among `mostExamined` identifiers ends early.
 */
export function listEvaluations(state: State, query: EvaluationsQuery, now: number): Decision {
  const { page_size, page_token, ...filter } = query;
  const { seed, evaluations, changing } = state.settings;
  const list = `${seed} ${stringifyJson(filter)}`;
  const last = page_token ? placeOf(list, page_token) : 0n;
  if (last === undefined) {
    const problem = 'is not a token of this list';
    return refuse('INVALID_ARGUMENT', `page_token: ${problem}`, {
      details: [badRequest('page_token', problem)],
    });
  }
  const isListed = (evaluation: Evaluation): boolean => matchesFilter(evaluation, filter);
  const shift = changing && last > 0n ? changeEvaluation(state, last, isListed, now) : 0;
  // A page of one entry can't repeat it, because the list would never end.
  let examined = shift < 0 && page_size > 1 ? last - 1n : last;
  let toSkip = Math.max(0, shift);
  const end = last + mostExamined < evaluations ? last + mostExamined : evaluations;
  const page: object[] = [];
  while (page.length < page_size && examined < end) {
    examined += 1n;
    if (state.isDeleted(examined) !== (filter.is_deleted ?? false)) continue;
    const evaluation = state.evaluation(examined);
    if (evaluation === undefined || !isListed(evaluation)) continue;
    if (toSkip > 0) toSkip--;
    else page.push(withoutSections(evaluation));
  }
  const next_page_token = examined < evaluations ? tokenOf(list, examined) : '';
  return { result: { evaluations: page, next_page_token }, type: evaluationPage };
}

const mostExamined = 10_000n;

/** A list of all entries, however many: the answer is written while it is sent. */
export function listSoundboards(state: State, now: number, nth: number): Decision {
  // The zero value of a list, which a shape may leave out.
  if (state.settings.soundboards === 0n) return { result: { soundboards: [] }, type: soundboardsAnswer };
  return { name: 'soundboards', entries: soundboardsBetweenChanges(state, nth, now), type: soundboard };
}

type Filter = Omit<EvaluationsQuery, 'page_size' | 'page_token'>;

/** Whether an evaluation belongs to the list now. An empty list of values is no filter. */
function matchesFilter(evaluation: Evaluation, filter: Filter): boolean {
  const { is_deleted, agent_user_ids: agents, scorecard_ids: scorecards, completed_at } = filter;
  return (
    (evaluation.deleted_at !== undefined) === (is_deleted ?? false) &&
    (!agents?.length || agents.includes(evaluation.agent_user_id)) &&
    (!scorecards?.length || scorecards.includes(BigInt(evaluation.scorecard_id))) &&
    comparisons.every(([name, holds]) => {
      const limit = completed_at?.[name];
      return limit == null || holds(Date.parse(evaluation.completed_at), Date.parse(limit));
    })
  );
}

const comparisons = [
  ['eq', (time: number, limit: number) => time === limit],
  ['gte', (time: number, limit: number) => time >= limit],
  ['lte', (time: number, limit: number) => time <= limit],
  ['gt', (time: number, limit: number) => time > limit],
  ['lt', (time: number, limit: number) => time < limit],
] as const;

function withoutSections({ evaluation_sections, ...fields }: Evaluation): object {
  return fields;
}

/** A page token, opaque to clients. The second number makes a token of another list, or of a client's own making, invalid. */
function tokenOf(list: string, last: bigint): string {
  const check = randomFor('page token', list, last).bigInteger();
  return Buffer.from(`${last}.${check}`).toString('base64url');
}

function placeOf(list: string, token: string): bigint | undefined {
  const [, digits] = /^(\d{1,19})\./.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  return digits !== undefined && tokenOf(list, BigInt(digits)) === token ? BigInt(digits) : undefined;
}
