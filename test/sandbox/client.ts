import { parseJson, stringifyJson } from '../../src/base/text/json.ts';
import { startTestSandbox, type TestOptions, type TestSandbox } from '../helpers/sandbox.ts';

export const restorePath = '/api/v1alpha1/scorecards/scorecards/restoreevaluation';
export const updatePath = '/api/v1alpha1/org/soundboard/update';
export const getPath = '/api/v1alpha1/scorecards/scorecards/getevaluation';
export const evaluationsPath = '/api/v1alpha1/scorecards/scorecards/listevaluations';
export const soundboardsPath = '/api/v1alpha1/org/soundboard/list';

/** Starts a sandbox for the running test: without faults unless the test asks for them. */
export function start(options: TestOptions = {}): Promise<TestSandbox> {
  return startTestSandbox({ unrecoverable: '0%', notDeleted: '0%', ...options });
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed text, where it is JSON. */
  readonly body: unknown;
}

export interface Request {
  readonly method?: string;
  readonly token?: string | null;
  readonly contentType?: string | null;
  readonly signal?: AbortSignal;
}

/** Sends a request with the usual headers; rejects when no complete answer comes. */
export async function send(
  sandbox: TestSandbox,
  path: string,
  body: string | Uint8Array<ArrayBuffer> | undefined,
  { method = 'POST', token = sandbox.token, contentType = 'application/json', signal }: Request = {},
): Promise<Answer> {
  const response = await fetch(sandbox.url + path, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(contentType !== null && { 'content-type': contentType }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? new TextEncoder().encode(body) : body }),
    ...(signal && { signal }),
  });
  return answerOf(response);
}

/** Restores an evaluation. */
export function restore(
  sandbox: TestSandbox,
  id: number | bigint | string,
  request: Request = {},
): Promise<Answer> {
  return send(sandbox, restorePath, stringifyJson({ evaluation_id: id, user_id: 'tester' }), request);
}

/** Updates a soundboard entry. */
export function update(
  sandbox: TestSandbox,
  soundboard: Readonly<Record<string, unknown>>,
  request: Request = {},
): Promise<Answer> {
  return send(sandbox, updatePath, stringifyJson({ soundboard }), request);
}

export type Fields = Readonly<Record<string, unknown>>;

/** The pages of a list of evaluations up to its end, each with its entries. */
export async function evaluationPages(sandbox: TestSandbox, query: Fields): Promise<readonly Fields[][]> {
  const pages: Fields[][] = [];
  for (let token: unknown = ''; pages.length === 0 || token; ) {
    const { status, body, text } = await send(
      sandbox,
      evaluationsPath,
      stringifyJson({ is_deleted: true, page_size: 100, page_token: token, ...query }),
    );
    if (status !== 200) throw new Error(text);
    const page = body as { evaluations?: Fields[]; next_page_token?: string; nextPageToken?: string };
    pages.push(page.evaluations ?? []);
    token = page.next_page_token ?? page.nextPageToken;
  }
  return pages;
}

/** The text of a request on a separate connection; `length` is the stated length of its body. */
export function restoreRequest(sandbox: TestSandbox, body: string, length = body.length): string {
  return [
    `POST ${restorePath} HTTP/1.1`,
    'Host: sandbox',
    `Authorization: Bearer ${sandbox.token}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '',
    body,
  ].join('\r\n');
}

/** The content of a path below `/sandbox`. */
export async function look(sandbox: TestSandbox, path: string): Promise<Answer> {
  return answerOf(await fetch(`${sandbox.url}/sandbox${path}`));
}

/** Parses JSON Lines. */
export function lines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJson(line));
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  try {
    return { status, headers, text, body: parseJson(text) };
  } catch {
    return { status, headers, text, body: undefined };
  }
}
