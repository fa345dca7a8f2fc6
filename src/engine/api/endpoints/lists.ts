/** Lists of entries, from a public description of a service with the calls of the interface document, which has none. */

import { int64Json, requireInt64 } from '../int64.ts';
import type { ApiRequest } from '../request.ts';

/** A page must have a size. Hundreds of evaluations, without their sections, are far below the 4 MB of a usual message. */
const pageSize = 500;

const scorecards = '/api/v1alpha1/scorecards/scorecards';

/** @param pageToken from the answer before; absent for the first page */
export function listDeletedEvaluationsRequest(pageToken?: string): ApiRequest {
  return evaluationsRequest(true, pageToken);
}

/** Evaluations that are not deleted. */
export function listEvaluationsRequest(pageToken?: string): ApiRequest {
  return evaluationsRequest(false, pageToken);
}

function evaluationsRequest(isDeleted: boolean, pageToken: string | undefined): ApiRequest {
  const page = pageToken === undefined ? '' : `,"page_token":${JSON.stringify(pageToken)}`;
  return {
    path: `${scorecards}/listevaluations`,
    body: `{"is_deleted":${isDeleted},"page_size":${pageSize}${page}}`,
  };
}

/** One evaluation. Whether the service finds deleted ones is not said. */
export function getEvaluationRequest(evaluationId: string): ApiRequest {
  const id = int64Json(requireInt64('evaluationId', evaluationId, 1));
  return { path: `${scorecards}/getevaluation`, body: `{"evaluation_id":${id}}` };
}

/** All entries, in one answer. */
export function listSoundboardsRequest(): ApiRequest {
  return { path: '/api/v1alpha1/org/soundboard/list', body: '{}' };
}
