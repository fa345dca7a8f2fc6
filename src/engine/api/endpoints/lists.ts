/** Lists of entries, from a public description of a service with the calls of the interface document, which has none. */

import type { ApiRequest } from '../request.ts';

/** A page must have a size. Hundreds of evaluations, without their sections, are far below the 4 MB of a usual message. */
const pageSize = 500;

/** @param pageToken from the answer before; absent for the first page */
export function listDeletedEvaluationsRequest(pageToken?: string): ApiRequest {
  const page = pageToken === undefined ? '' : `,"page_token":${JSON.stringify(pageToken)}`;
  return {
    path: '/api/v1alpha1/scorecards/scorecards/listevaluations',
    body: `{"is_deleted":true,"page_size":${pageSize}${page}}`,
  };
}

/** All entries, in one answer. */
export function listSoundboardsRequest(): ApiRequest {
  return { path: '/api/v1alpha1/org/soundboard/list', body: '{}' };
}
