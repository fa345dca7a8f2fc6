import type { Ending } from './exchange.ts';

/** Counts the HTTP requests of a client, each once, those of repeated attempts and of a second token among them. */
export interface RequestWatch {
  /** One is under way. */
  began(): void;
  /** It is over. @param sent absent when no byte of it was written: then the server knows nothing of it */
  ended(sent?: SentRequest): void;
}

/** A request that the server may have received. */
export interface SentRequest {
  /** Status of the answer, when its head arrived. */
  readonly status?: number | undefined;
  /** From when it was to be sent, so that waiting for a connection is part of it. */
  readonly durationMs: number;
}

/** Makes a request, and tells of it. */
export async function watched(
  watch: RequestWatch | undefined,
  request: () => Promise<Ending>,
): Promise<Ending> {
  if (watch === undefined) return request();
  const begun = performance.now();
  let sent: SentRequest | undefined;
  watch.began();
  try {
    const ending = await request();
    const status = ending.kind === 'answer' ? ending.answer.status : ending.status;
    const isSent = ending.kind === 'answer' || ending.progress !== 'unsent';
    if (isSent) sent = { status, durationMs: performance.now() - begun };
    return ending;
  } finally {
    watch.ended(sent);
  }
}
