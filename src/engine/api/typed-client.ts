import { type ApiClient, type ClientOptions, createClient, type SendOptions } from './client.ts';
import {
  type RestoreEvaluationInput,
  readRestoreEvaluationAnswer,
  restoreEvaluationRequest,
} from './endpoints/restore-evaluation.ts';
import {
  readUpdateSoundboardAnswer,
  type UpdateSoundboardAnswer,
  type UpdateSoundboardInput,
  updateSoundboardRequest,
} from './endpoints/update-soundboard.ts';
import { ApiError, apiFailure } from './failure.ts';
import { requireInt64 } from './int64.ts';
import type { Evaluation } from './model/entities.ts';
import type { Reading } from './model/reading.ts';
import type { ApiRequest } from './request.ts';

/** A function for each operation of the interface document. */
export interface TypedClient extends ApiClient {
  /**
   * Restores a deleted evaluation (section 4.1) and returns it.
   *
   * Rejects with an ApiError when the call fails, or the evaluation in the answer is another one or still deleted; with a RangeError for an
   * identifier that is not an exact integer.
   */
  readonly restoreEvaluation: (input: RestoreEvaluationInput, options?: SendOptions) => Promise<Evaluation>;
  /**
   * Updates a soundboard entry (section 4.2): only the given fields are sent.
   *
   * Rejects with an ApiError when the call fails or the answer is about another entry; with a RangeError for an integer that is not exact,
   * an update without any field, or a field that the service does not know.
   */
  readonly updateSoundboard: (
    input: UpdateSoundboardInput,
    options?: SendOptions,
  ) => Promise<UpdateSoundboardAnswer>;
}

/**
 * `send` tries each call once and repeats only requests that certainly were not sent; the caller decides on retries, by the class of the
 * failure.
 *
 * @throws CqbatchError (usage) for a base URL or a token that cannot be used
 */
export function createTypedClient(options: ClientOptions): TypedClient {
  const client = createClient(options);

  async function call<T>(
    request: ApiRequest,
    read: (body: unknown) => Reading<T>,
    sendOptions?: SendOptions,
  ): Promise<T> {
    const answer = await client.send(request, sendOptions);
    if (!answer.ok) throw new ApiError(answer.failure);
    const reading = read(answer.body);
    if (reading.ok) return reading.value;
    const { code, message } = reading;
    throw new ApiError(apiFailure(code, message, { status: answer.status, unclear: true }));
  }

  return {
    ...client,
    restoreEvaluation: async (input, sendOptions) => {
      const id = requireInt64('evaluationId', input.evaluationId, 1);
      const read = (body: unknown) => readRestoreEvaluationAnswer(id, body);
      return call(restoreEvaluationRequest(input), read, sendOptions);
    },
    updateSoundboard: async (input, sendOptions) => {
      const id = requireInt64('soundboardId', input.soundboardId, 1);
      const read = (body: unknown) => readUpdateSoundboardAnswer(id, body);
      return call(updateSoundboardRequest(input), read, sendOptions);
    },
  };
}
