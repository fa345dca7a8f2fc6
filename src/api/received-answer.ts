import type { ReceivedAnswer } from '../domain.ts';
import type { HttpAnswer } from './answer.ts';
import { headerValues } from './headers.ts';
import type { TokenMask } from './server-text.ts';

/** The most of a body that is kept, in characters, and of a header's value. */
const maxBodyLength = 16_384;
const maxHeaderLength = 1_000;

/** What tells of the answer, its way and the limits; nothing that lets anybody in, such as a cookie. */
const keptHeaders =
  /^(content-(type|length|encoding)|date|age|via|server|location|etag|retry-after|www-authenticate|grpc-(status|message)|.*ratelimit.*|(x-)?(request|correlation|trace)-?id|x-amzn-(requestid|trace-id)|x-cloud-trace-context|traceparent)$/;

/** An answer as it is kept: with the headers that matter, and without the token, which a server may quote. */
export function receivedAnswer({ status, headers, body }: HttpAnswer, mask: TokenMask): ReceivedAnswer {
  const kept = Object.keys(headers).filter((name) => keptHeaders.test(name));
  const text = withoutToken(body, mask);
  return {
    status,
    headers: Object.fromEntries(
      kept.map((name) => [
        name,
        withoutToken(headerValues(headers, name).join(', '), mask).slice(0, maxHeaderLength),
      ]),
    ),
    body: text.slice(0, maxBodyLength),
    ...(text.length > maxBodyLength && { cut: true }),
  };
}

/** In JSON, `\u` escapes may stand for anything that a token is made of. */
function withoutToken(text: string, mask: TokenMask): string {
  const unescaped = text.replace(/\\u00([2-7][0-9a-f])/gi, (_escape, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const masked = mask.text(unescaped);
  return masked === unescaped ? mask.text(text) : masked;
}
