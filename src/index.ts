/** The API client as a library: see `docs/api-client.md`. */

export { type BaseUrlOptions, parseBaseUrl } from './api/base-url.ts';
export type { ApiAnswer, ApiClient, CallFigures, SendOptions } from './api/client.ts';
export type { RestoreEvaluationInput } from './api/endpoints/restore-evaluation.ts';
export type { UpdateSoundboardAnswer, UpdateSoundboardInput } from './api/endpoints/update-soundboard.ts';
export { ApiError, type ApiFailure, type FailureClass } from './api/failure.ts';
export type { Int64Input } from './api/int64.ts';
export type { LimitUnit, StatedLimit } from './api/limits/stated-limit.ts';
export {
  type CallMetadata,
  type CallType,
  type ChannelType,
  type ConversationMetadata,
  type Evaluation,
  type EvaluationState,
  evaluationSchema,
} from './api/model/evaluation.ts';
export type {
  AutoEvaluationQuestion,
  CustomField,
  EvaluationAnswer,
  EvaluationQuestion,
  EvaluationSection,
  RiskLevel,
} from './api/model/evaluation-parts.ts';
export { type FileType, type Soundboard, soundboardSchema } from './api/model/soundboard.ts';
export { type ClientOptions, defaultTimeouts, type Timeouts } from './api/options.ts';
export type { ApiRequest } from './api/request.ts';
export { type TokenSource, tokenFromFile, tokenFromValue } from './api/token.ts';
export { createTypedClient as createClient, type TypedClient } from './api/typed-client.ts';
export { CqbatchError, type ErrorKind } from './errors.ts';
export { parseJson, stringifyJson } from './json.ts';
