/** Sends a request to the dashboard. @returns the answer's body. @throws an Error whose message says why the server refuses */
export async function sendRequest(path: string, body?: object, method = 'POST'): Promise<Response> {
  const isFile = body instanceof Blob;
  const content =
    body === undefined
      ? {}
      : {
          headers: { 'content-type': isFile ? 'application/octet-stream' : 'application/json' },
          body: isFile ? body : JSON.stringify(body),
        };
  const answer = await fetch(path, { method, ...content }).catch(() => {
    throw new Error(
      'The dashboard does not respond. If it was stopped, start it again and open its new address.',
    );
  });
  if (answer.ok) return answer;
  const refusal = (await answer.json().catch(() => undefined)) as { message?: string } | undefined;
  throw new Error(refusal?.message ?? `The dashboard answers with HTTP ${answer.status}.`);
}

/** As `sendRequest`, for an answer in JSON. */
export async function sendForJson<Answer>(path: string, body?: object, method?: string): Promise<Answer> {
  return (await (await sendRequest(path, body, method)).json()) as Answer;
}
