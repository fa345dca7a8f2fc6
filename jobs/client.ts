import {
  type ApiClient,
  type ClientOptions,
  createClient,
  type SendOptions,
} from '../src/engine/api/client.ts';
import { ApiError, apiFailure } from '../src/engine/api/failure.ts';
import type { Reading } from '../src/engine/api/reading.ts';
import type { ApiRequest } from '../src/engine/api/request.ts';
import type { Evaluation } from './evaluation.ts';
import {
  type RestoreEvaluationInput,
  readRestoreEvaluationAnswer,
  restoreEvaluation,
  restoreFields,
} from './restore-evaluation.ts';
import { rowOfInput } from './typed-fields.ts';
import {
  changesNothing,
  readUpdateSoundboardAnswer,
  soundboardFields,
  type UpdateSoundboardAnswer,
  type UpdateSoundboardInput,
  updateSoundboard,
} from './update-soundboard.ts';

/** A client with a function for each operation of the interface document. */
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
      const row = rowOfInput(restoreFields, input);
      const read = (body: unknown) => readRestoreEvaluationAnswer(row.evaluation_id, body);
      return call(restoreEvaluation.request(row), read, sendOptions);
    },
    updateSoundboard: async (input, sendOptions) => {
      const row = rowOfInput(soundboardFields, input);
      if (changesNothing(row))
        throw new RangeError('the update changes nothing: give at least one field besides soundboardId');
      const read = (body: unknown) => readUpdateSoundboardAnswer(row.soundboard_id, body);
      return call(updateSoundboard.request(row), read, sendOptions);
    },
  };
}
