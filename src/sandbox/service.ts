import type { IncomingMessage } from 'node:http';
import { preciseNow } from '../base/async/clock.ts';
import { defaultBackend, type HttpAnswer, type Refusal, refuse, retryAfter } from './answer.ts';
import { retryInfo } from './error-details.ts';
import { drawFault, type Send } from './faults.ts';
import { limitHeaders } from './limits/allowance.ts';
import type { Admission } from './limits/limiters.ts';
import { type Call, type Endpoint, endpoints, readCall } from './operations.ts';
import type { SandboxSettings } from './options.ts';
import { randomFor } from './random.ts';
import { type LogEntry, RequestLog, type RequestRecord } from './request-log.ts';
import { type Shape, shapes, writeAnswer } from './shapes.ts';
import { State } from './state.ts';

export interface Reaction {
  readonly answer: HttpAnswer | undefined;
  /** Delivers the answer in another way. Default: sends the answer as it is. */
  readonly send?: Send | undefined;
  /** The time before the answer is sent, in milliseconds. */
  readonly delay: number;
  /** An entry of the log that gets its status when the answer is sent. */
  readonly entry: LogEntry;
  /** Must be called when the answer is delivered or the connection is gone. */
  readonly onDelivered?: (() => void) | undefined;
}

/**
 * The service of the interface document. A request passes these stages; each of them may end it:
 *
 * 1. path, method, token, permission, rate limit;
 * 2. body (`readCall`);
 * 3. fault, drawn from seed, operation, identifier or page, and the number of earlier requests that came this far;
 * 4. the operation, which makes its change at once, in the order of arrival;
 * 5. waiting for the rate limit where it says so, latency, then the answer, or what the fault makes of it.
 *
 * The body is read before the first stage, for the log, but judged in the second.
 */
export class Service {
  /** The limiter, which may be replaced while the service runs. */
  settings: SandboxSettings;
  readonly state: State;
  readonly log = new RequestLog();
  /** Requests that reached stage 3, by operation and identifier or page. */
  readonly #admitted = new Map<string, number>();

  constructor(settings: SandboxSettings) {
    this.settings = settings;
    this.state = new State(settings);
  }

  get #shape(): Shape {
    return shapes[this.settings.shape];
  }

  /** @param body `undefined` when the request broke off */
  react(
    { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
    body: Buffer | undefined,
  ): Reaction {
    const target = `${method} ${url}`;
    const endpoint = endpoints.find(({ path }) => path === url.split('?', 1)[0]);
    const { lists } = this.settings;
    const isMissing = lists === 'missing' || lists === 'balancer';
    if (!endpoint || (endpoint.readPermission !== undefined && isMissing)) {
      const answer = lists === 'balancer' ? defaultBackend : undefined;
      return this.#refuse(this.#shape.wrongPath(target), { target }, answer);
    }
    const call = readCall(endpoint, this.#shape, headers['content-type'], body, this.settings.numbers);
    const record: RequestRecord = {
      operation: endpoint.operation,
      ...(method !== 'POST' && { target }),
      ...('id' in call && { id: String(call.id), user_id: call.userId ?? null }),
      ...(body?.length && { body: body.toString('utf8') }),
      ...(typeof headers['traceparent'] === 'string' && { traceparent: headers['traceparent'] }),
    };
    const token = bearerToken(headers.authorization);
    if (method !== 'POST') return this.#refuse(this.#shape.wrongMethod, record);
    if (token === undefined || !this.settings.token.includes(token))
      return this.#refuse(unauthenticatedRefusal, record);
    if (endpoint.readPermission !== undefined && lists === 'forbidden')
      return this.#refuse(missingPermission(endpoint.readPermission), record);
    const now = preciseNow();
    const admission = this.settings.limit.admit(now, token);
    if (!admission.isAdmitted)
      return this.#applyLimit(this.#refuseTooMany(admission.retryAfter, record), admission, now);
    const reaction = 'perform' in call ? this.#process(endpoint, call, record) : this.#refuse(call, record);
    return this.#applyLimit(reaction, admission, now);
  }

  #refuse(refusal: Refusal, record: RequestRecord, answer = writeAnswer(this.#shape, refusal)): Reaction {
    return { answer, delay: 0, entry: this.log.append({ ...record, code: refusal.code }) };
  }

  /** @param wait in seconds; undefined if unknown */
  #refuseTooMany(wait: number | undefined, record: RequestRecord): Reaction {
    const code = this.settings.limitStatus === '429' ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE';
    const { retryAfter: where } = this.settings;
    const isSaid = wait !== undefined && where !== 'none';
    const refusal = refuse(code, 'too many requests', {
      headers: isSaid && where === 'header' ? retryAfter(wait) : {},
      details: isSaid ? [retryInfo(wait)] : [],
    });
    return this.#refuse(refusal, { ...record, throttled: true });
  }

  #applyLimit(reaction: Reaction, admission: Admission, now: number): Reaction {
    const { answer } = reaction;
    const { allowance, delay = 0, release } = admission;
    const stated = allowance && limitHeaders(allowance, this.settings.limitHeaders, now);
    const headers = stated && this.#shape.headers(stated);
    return {
      ...reaction,
      answer: answer && headers ? { ...answer, headers: { ...answer.headers, ...headers } } : answer,
      delay: reaction.delay + delay,
      onDelivered: release,
    };
  }

  #process({ operation, readPermission }: Endpoint, call: Call, record: RequestRecord): Reaction {
    const { seed, fault: shares, latency } = this.settings;
    const thing = `${operation} ${call.id ?? call.page ?? ''}`;
    const nth = (this.#admitted.get(thing) ?? 0) + 1;
    this.#admitted.set(thing, nth);
    // Draws do not depend on the time of arrival, so that a run meets the same faults in any order.
    const draw = (what: string): number => randomFor(seed, what, thing, nth).fraction();
    const fault = shares.size > 0 ? drawFault(shares, draw('fault')) : undefined;
    const decision = fault?.processed === false ? undefined : call.perform(this.state, Date.now(), nth);
    const answer = decision && writeAnswer(this.#shape, decision);
    const spoilt = fault?.spoil?.(answer);
    const hit = fault?.spoil && !spoilt ? undefined : fault;
    const code = decision && ('code' in decision ? decision.code : 'OK');
    const isCommitted = code === 'OK' && readPermission === undefined;
    const outcome = { code: code ?? null, committed: isCommitted, fault: hit?.name ?? null };
    const spread = latency.max - latency.min;
    return {
      answer: spoilt && 'message' in spoilt ? writeAnswer(this.#shape, spoilt) : (spoilt ?? answer),
      send: hit?.send,
      delay: latency.min + (spread > 0 ? spread * draw('latency') : 0),
      entry: this.log.append({ ...record, nth, ...outcome }),
    };
  }
}

const unauthenticatedRefusal = refuse('UNAUTHENTICATED', 'the access token is missing or not valid', {
  headers: { 'www-authenticate': 'Bearer' },
});

function missingPermission(permission: string): Refusal {
  return refuse('PERMISSION_DENIED', `the access token lacks ${permission}`);
}

/** The name of the scheme is case-insensitive (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}
