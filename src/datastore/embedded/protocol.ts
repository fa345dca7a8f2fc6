/** The messages between the main thread and the thread that runs PGlite. */

export interface OpenData {
  readonly folder: string;
}

export interface StatementResult {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number;
}

export type Request =
  | {
      readonly id: number;
      readonly type: 'query';
      readonly text: string;
      readonly params: readonly unknown[];
    }
  | { readonly id: number; readonly type: 'close' };

export type Reply =
  | { readonly type: 'opened' }
  | { readonly type: 'result'; readonly id: number; readonly result: StatementResult }
  | { readonly type: 'error'; readonly id: number; readonly error: StatementError }
  | { readonly type: 'notification'; readonly channel: string; readonly payload: string };

/** What a statement failed with: a PostgreSQL error, of which BullMQ reads `code` (SQLSTATE) and `detail`, or PGlite's end. */
export interface StatementError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly detail?: string;
}
