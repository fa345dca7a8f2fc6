import { createServer, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';

/** What happens to a request: it is carried out, gets another answer, or is never answered. */
export type Mood =
  | 'well'
  | 'silent'
  | { readonly status: number; readonly type: string; readonly body: string };

/** The restore operation as a local server that can fail, vanish and come back on the same port. */
export interface MoodyApi {
  readonly url: string;
  mood: Mood;
  /** Identifiers of the requests that have arrived, in order. */
  readonly calls: readonly number[];
  /** Resolves when this many requests have arrived. */
  reached(calls: number): Promise<void>;
  /** Cuts all connections and accepts no more. */
  vanish(): Promise<void>;
  /** Listens again. */
  comeBack(): Promise<void>;
}

export async function startMoodyApi(latencyMs = 10): Promise<MoodyApi> {
  const calls: number[] = [];
  const waiting: { readonly calls: number; readonly resolve: () => void }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const id = Number(JSON.parse(body).evaluation_id);
    calls.push(id);
    for (const { calls: wanted, resolve } of waiting) if (calls.length >= wanted) resolve();
    setTimeout(() => answer(api.mood, id, response), latencyMs);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const port = await freePort();
  await listen(port);
  const vanish = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  onTestFinished(vanish);
  const api: MoodyApi = {
    url: `http://127.0.0.1:${port}`,
    mood: 'well',
    calls,
    reached: (wanted) =>
      new Promise((resolve) => {
        if (calls.length >= wanted) resolve();
        else waiting.push({ calls: wanted, resolve });
      }),
    vanish,
    comeBack: () => listen(port),
  };
  return api;
}

function answer(mood: Mood, id: number, response: ServerResponse): void {
  if (mood === 'silent' || response.destroyed) return;
  const { status, type, body } =
    mood === 'well'
      ? { status: 200, type: 'application/json', body: JSON.stringify({ evaluation: { evaluation_id: id } }) }
      : mood;
  response.writeHead(status, { 'content-type': type }).end(body);
}
