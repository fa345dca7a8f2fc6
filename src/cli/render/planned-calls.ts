import { count } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { idempotencyKey } from '../../domain/trace.ts';
import { type ApiRequest, requestHeaders } from '../../engine/api/request.ts';
import { keyHeader } from '../../engine/operation/header-rules.ts';
import { headerLines } from '../../engine/operation/request-definition.ts';
import type { CallableRow } from '../../engine/rows/row.ts';
import type { Forecast } from './forecast.ts';
import { cutInTheMiddle } from './style.ts';
import { indentedLine, indentedText } from './words.ts';

/** How many of its first requests a plan shows. */
export const shownRequests = 3;

/** The first calls of a plan. */
export interface PlannedCalls extends Pick<Forecast, 'baseUrl'> {
  readonly scan: { readonly preview: readonly CallableRow[] };
  /** The requests of the first rows in `scan.preview`. */
  readonly requests: readonly ApiRequest[];
}

export function previewDocument(plan: PlannedCalls): readonly object[] {
  return requestsOf(plan).map(({ row, request }) => ({
    row: row.row,
    method: request.method ?? 'POST',
    url: urlOf(plan, request),
    headers: headersOf(row, request),
    body: request.body,
  }));
}

/** The first requests of a plan. @param columns of the screen, on which long addresses are cut */
export function previewText(plan: PlannedCalls, columns = Number.POSITIVE_INFINITY): string {
  const preview = requestsOf(plan);
  if (preview.length === 0) return '';
  const requests = preview.map(({ row, request }, index) =>
    [
      `row ${row.row}: ${row.operation.name} ${escapeInvisible(row.subject)}`,
      indentedText([
        requestLine(plan, request, columns - indentedLine('').length),
        // The first request shows all headers. Later requests show only headers that differ from row to row.
        ...(index === 0
          ? [headerLines({ headers: headersOf(row, request) }).join('; ')]
          : headerLines({ headers: ownHeadersOf(row, request) })),
        escapeInvisible(excerptOf(request.body)),
      ]),
    ].join('\n'),
  );
  const example = preview.some(({ row }) => hasExampleKey(row))
    ? ' (idempotency-key: an example, the run makes its own)'
    : '';
  const first = preview.length === 1 ? 'request' : `${preview.length} requests`;
  return `First ${first}${example}:\n${requests.join('\n')}`;
}

/** The first line of a request: `POST https://api.exam…/restoreevaluation` */
function requestLine(plan: PlannedCalls, request: ApiRequest, columns: number): string {
  const { method = 'POST' } = request;
  return `${method} ${cutInTheMiddle(columns - method.length - 1, urlOf(plan, request))}`;
}

/** The first rows, each with its request. */
function requestsOf({ scan, requests }: PlannedCalls): readonly { row: CallableRow; request: ApiRequest }[] {
  return scan.preview.flatMap((row, index) => {
    const request = requests[index];
    return request === undefined ? [] : [{ row, request }];
  });
}

function headersOf(row: CallableRow, request: ApiRequest): Readonly<Record<string, string>> {
  const { auth } = row.operation;
  return {
    ...requestHeaders('********', { auth, hasBody: request.body !== '' }),
    ...ownHeadersOf(row, request),
  };
}

/** The headers that only this row has. The run makes its idempotency keys when it starts, so the plan shows an example. */
function ownHeadersOf(
  { row, operation, key }: CallableRow,
  { headers }: ApiRequest,
): Readonly<Record<string, string>> {
  return operation.key === 'by run'
    ? { ...headers, [keyHeader]: key ?? idempotencyKey('example', row) }
    : { ...headers };
}

function hasExampleKey({ operation, key }: CallableRow): boolean {
  return operation.key === 'by run' && key === undefined;
}

const maxBodyLength = 2_000;

function excerptOf(body: string): string {
  const more = body.length - maxBodyLength;
  return more > 0 ? `${body.slice(0, maxBodyLength)}… (${count(more)} more characters)` : body;
}

function urlOf({ baseUrl }: Pick<PlannedCalls, 'baseUrl'>, { path }: ApiRequest): string {
  return `${baseUrl ?? '{base_url}'}${path}`;
}
