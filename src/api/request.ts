/** A request as it goes out: POST of `body` (JSON text) to `path` below the base URL. */
export interface ApiRequest {
  /** Begins with `/`. */
  readonly path: string;
  readonly body: string;
}
