import { preciseNow } from '../../clock.ts';
import { drawFault, type RequestKey } from '../faults.ts';
import type { Admission, Admitted } from '../limits/limiter.ts';
import { PlannedLimiter } from '../limits/plan.ts';
import type { Switches } from '../options/options.ts';
import { randomFor } from '../random.ts';
import type { RequestLog, RequestRecord, Sent } from '../request-log.ts';
import { createState, type State, type StateSources } from '../state/store.ts';
import {
  type Delivery,
  deliverLoss,
  deliverSpoilt,
  withHeaders,
  writeAnswer,
  writeRefusal,
} from './delivery.ts';
import { limitHeaders } from './limit-headers.ts';
import { type Call, type Endpoint, readCall } from './operations.ts';
import { type Refusal, refuse } from './refusal.ts';

/** A complete request for one of the service's paths. */
export interface ServiceRequest {
  readonly endpoint: Endpoint;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** What is to be done on the connection, and when. */
export interface ServiceReaction {
  readonly delivery: Delivery;
  /** Milliseconds to wait before. */
  readonly delay: number;
  /** To be called when a status was sent. */
  readonly sent: Sent;
  /** To be called when the answer is delivered, or the connection is gone. */
  readonly over?: (() => void) | undefined;
}

export interface ServiceSettings extends StateSources {
  readonly seed: number;
  /** The tokens that are accepted. */
  readonly tokens: readonly string[];
  readonly switches: Switches;
  readonly log: RequestLog;
}

/**
 * The service of the interface document. A request passes these stages; each of them may end it:
 *
 * 1. method, token, rate limit;
 * 2. body (`readCall`);
 * 3. fault, drawn from seed, operation, identifier and the number of earlier requests that came this far;
 * 4. the operation, which makes its change at once, in the order of arrival;
 * 5. waiting for the rate limit where it says so, latency, then the answer, or what the fault makes of it.
 *
 * The body is read before the first stage for the log's sake, but is only judged in the second.
 */
export class Service {
  /** The tokens that are accepted from now on. */
  tokens: readonly string[];
  readonly #settings: ServiceSettings;
  #switches: Switches;
  #limiter: PlannedLimiter;
  #state: State;
  /** Requests that came to stage 3, by operation and identifier. */
  readonly #admitted = new Map<string, number>();

  constructor(settings: ServiceSettings) {
    this.#settings = settings;
    this.tokens = settings.tokens;
    this.#switches = settings.switches;
    this.#limiter = new PlannedLimiter(settings.switches.limit);
    this.#state = createState(settings);
  }

  get state(): State {
    return this.#state;
  }

  /** Changes the switches. The limit goes on with what is used up unless it is renewed. */
  configure(switches: Switches, { renewLimit }: { readonly renewLimit: boolean }): void {
    this.#switches = switches;
    if (renewLimit) this.#limiter = new PlannedLimiter(switches.limit);
  }

  /** Undoes every change, empties the log and fills the rate limit's allowance. Tokens stay as they are. */
  reset(): void {
    this.#state = createState(this.#settings);
    this.#admitted.clear();
    this.#limiter = new PlannedLimiter(this.#switches.limit);
    this.#settings.log.clear();
  }

  /** Processes a request. */
  react(request: ServiceRequest): ServiceReaction {
    const { endpoint, method, url, body } = request;
    const reading = readCall(endpoint, request.contentType, body);
    const record = {
      operation: endpoint.operation,
      target: method === 'POST' ? undefined : `${method} ${url}`,
      id: reading.ok ? String(reading.call.id) : undefined,
      userId: reading.ok ? reading.call.userId : undefined,
      body: body.length > 0 ? body : undefined,
    };
    const token = bearerToken(request.authorization);
    if (method !== 'POST') return this.#refuse(methodNotAllowed, record);
    if (token === undefined || !this.tokens.includes(token)) return this.#refuse(unauthenticated, record);
    if (this.#switches.forbidden) return this.#refuse(permissionDenied, record);
    const now = preciseNow();
    const admission = this.#limiter.admit(now, token);
    if (!admission.admitted) {
      const code = this.#switches.limitStatus === '429' ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE';
      const refusal = refuse(code, 'too many requests', { retryAfter: admission.retryAfter });
      return this.#limited(this.#refuse(refusal, { ...record, throttled: true }), admission, now);
    }
    const reaction = reading.ok
      ? this.#process(endpoint, reading.call, record)
      : this.#refuse(reading.refusal, record);
    return this.#limited(reaction, admission, now);
  }

  /** Answers a request for a path that the service does not have. */
  reactToUnknownPath(method: string, url: string): ServiceReaction {
    const target = `${method} ${url}`;
    const refusal = refuse('NOT_FOUND', `there is nothing at ${target}`);
    return this.#refuse(refusal, { target });
  }

  /** Answers a request whose body could not be received. `operation` is that of its path. */
  reactToUnreadable(operation: Endpoint['operation'], status: number, message: string): ServiceReaction {
    const refusal = refuse('INVALID_ARGUMENT', message, { status });
    return this.#refuse(refusal, { operation });
  }

  #refuse(refusal: Refusal, record: RequestRecord): ServiceReaction {
    const sent = this.#settings.log.append({ ...record, code: refusal.code });
    return { delivery: { kind: 'answer', answer: writeRefusal(refusal, this.#switches) }, delay: 0, sent };
  }

  /** Adds to a reaction what the rate limit has to do with it. */
  #limited(reaction: ServiceReaction, admission: Admission, now: number): ServiceReaction {
    const { allowance } = admission;
    const { delay = 0, release }: Partial<Admitted> = admission.admitted ? admission : {};
    const headers = allowance && limitHeaders(allowance, this.#switches.limitHeaders, now);
    return {
      delivery: headers ? withHeaders(reaction.delivery, headers) : reaction.delivery,
      delay: reaction.delay + delay,
      sent: reaction.sent,
      over: release,
    };
  }

  #process(endpoint: Endpoint, call: Call, record: RequestRecord): ServiceReaction {
    const { log, seed } = this.#settings;
    const id = String(call.id);
    const nth = this.#countAdmitted(endpoint.operation, id);
    const key = { seed, operation: endpoint.operation, id, nth };
    const fault = drawFault(this.#switches.fault, key);
    const delay = this.#drawLatency(key);

    if (fault?.processed === false) {
      const sent = log.append({ ...record, nth, fault: fault.name });
      return { delivery: deliverLoss(fault.effect, this.#switches), delay, sent };
    }
    const { omitted, notDeletedStatus } = this.#switches;
    const answer = call.perform({ ...this.#state, now: Date.now(), omitted, notDeletedStatus });
    const spoilt = fault && deliverSpoilt(fault.effect, answer, { endpoint, id: call.id }, this.#switches);
    const sent = log.append({
      ...record,
      nth,
      code: answer.kind === 'done' ? 'OK' : answer.refusal.code,
      committed: answer.kind === 'done',
      fault: spoilt && fault?.name,
    });
    const delivery = spoilt ?? { kind: 'answer', answer: writeAnswer(answer, this.#switches) };
    return { delivery, delay, sent };
  }

  #countAdmitted(operation: string, id: string): number {
    const key = `${operation} ${id}`;
    const nth = (this.#admitted.get(key) ?? 0) + 1;
    this.#admitted.set(key, nth);
    return nth;
  }

  #drawLatency({ seed, operation, id, nth }: RequestKey): number {
    const { min, max } = this.#switches.latency;
    if (min === max) return min;
    return min + randomFor(seed, 'latency', operation, id, nth).fraction() * (max - min);
  }
}

const methodNotAllowed = refuse('UNIMPLEMENTED', 'this path takes POST only', {
  status: 405,
  headers: { allow: 'POST' },
});

const unauthenticated = refuse('UNAUTHENTICATED', 'the access token is missing or not valid', {
  headers: { 'www-authenticate': 'Bearer' },
});

const permissionDenied = refuse('PERMISSION_DENIED', 'the access token does not permit this operation');

/** The name of the scheme is case-insensitive (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}
