import { drawFault, type RequestKey } from '../faults/fault-shares.ts';
import type { Admitted } from '../limits/limiter.ts';
import type { RequestRecord } from '../log/log-entry.ts';
import type { RequestLog, Sent } from '../log/request-log.ts';
import type { Switches } from '../options/switches.ts';
import { randomFor } from '../random.ts';
import { createState, type State, type StateSources } from '../state/store.ts';
import { steadyTime } from '../time.ts';
import {
  type Delivery,
  deliverLoss,
  deliverSpoilt,
  withHeaders,
  writeAnswer,
  writeRefusal,
} from './delivery.ts';
import { type Call, type Endpoint, readCall } from './endpoint.ts';
import { Gate, type GateRequest, type Passage } from './gate.ts';
import { limitHeaders } from './limit-headers.ts';
import { type Refusal, refuse } from './refusal.ts';

/** A complete request for one of the service's paths. */
export interface ServiceRequest extends GateRequest {
  readonly endpoint: Endpoint;
  /** Path and query. */
  readonly url: string;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** What is to be done on the connection, and when. */
export interface Reaction {
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
  readonly tokens: readonly string[];
  readonly switches: Switches;
  readonly log: RequestLog;
}

/**
 * The service of the interface document. A request passes these stages; each of them may end it:
 *
 * 1. method, token, rate limit (`Gate`);
 * 2. body (`readCall`);
 * 3. fault, drawn from seed, operation, identifier and the number of earlier requests that came this far;
 * 4. the operation, which makes its change at once, in the order of arrival;
 * 5. waiting for the rate limit where it says so, latency, then the answer, or what the fault makes of it.
 *
 * The body is read before the first stage for the log's sake, but is only judged in the second.
 */
export class Service {
  readonly #settings: ServiceSettings;
  readonly #gate: Gate;
  #switches: Switches;
  #state: State;
  /** Requests that came to stage 3, by operation and identifier. */
  readonly #admitted = new Map<string, number>();

  constructor(settings: ServiceSettings) {
    this.#settings = settings;
    this.#switches = settings.switches;
    this.#gate = new Gate({ tokens: settings.tokens, ...settings.switches });
    this.#state = createState(settings);
  }

  get state(): State {
    return this.#state;
  }

  /** The tokens that are accepted from now on. */
  set tokens(tokens: readonly string[]) {
    this.#gate.configure({ tokens });
  }

  /** Changes the switches. The limit goes on with what is used up unless it is renewed. */
  configure(switches: Switches, { renewLimit }: { readonly renewLimit: boolean }): void {
    const { forbidden, limit, limitStatus } = switches;
    this.#gate.configure({ forbidden, limit, limitStatus });
    if (renewLimit) this.#gate.renewLimit();
    this.#switches = switches;
  }

  /** Undoes every change, empties the log and fills the rate limit's allowance. Tokens stay as they are. */
  reset(): void {
    this.#state = createState(this.#settings);
    this.#admitted.clear();
    this.#gate.renewLimit();
    this.#settings.log.clear();
  }

  /** Processes a request. */
  react(request: ServiceRequest): Reaction {
    const { endpoint, method, url, body } = request;
    const reading = readCall(endpoint, request.contentType, body);
    const record = {
      operation: endpoint.operation,
      target: method === 'POST' ? undefined : `${method} ${url}`,
      id: reading.ok ? String(reading.call.id) : undefined,
      userId: reading.ok ? reading.call.userId : undefined,
      body: body.length > 0 ? body : undefined,
    };
    const now = steadyTime();
    const passage = this.#gate.pass(request, now);
    if (passage.kind !== 'admitted') {
      const reaction = this.#refuse(passage.refusal, { ...record, throttled: passage.kind === 'throttled' });
      return this.#limited(reaction, passage, now);
    }
    const reaction = reading.ok
      ? this.#process(endpoint, reading.call, record)
      : this.#refuse(reading.refusal, record);
    return this.#limited(reaction, passage, now);
  }

  /** Answers a request for a path that the service does not have. */
  reactToUnknownPath(method: string, url: string): Reaction {
    const target = `${method} ${url}`;
    const refusal = refuse('NOT_FOUND', `there is nothing at ${target}`);
    return this.#refuse(refusal, { target });
  }

  /** Answers a request whose body could not be received. `operation` is that of its path. */
  reactToUnreadable(operation: Endpoint['operation'], status: number, message: string): Reaction {
    const refusal = refuse('INVALID_ARGUMENT', message, { status });
    return this.#refuse(refusal, { operation });
  }

  #refuse(refusal: Refusal, record: RequestRecord): Reaction {
    const sent = this.#settings.log.append({ ...record, code: refusal.code });
    return { delivery: { kind: 'answer', answer: writeRefusal(refusal, this.#switches) }, delay: 0, sent };
  }

  /** Adds to a reaction what the rate limit has to do with it. */
  #limited(reaction: Reaction, passage: Passage, now: number): Reaction {
    if (passage.kind === 'refused') return reaction;
    const granted: Partial<Admitted> = passage.kind === 'admitted' ? passage.admission : passage;
    const { allowance, delay = 0, release } = granted;
    const headers = allowance && limitHeaders(allowance, this.#switches.limitHeaders, now);
    return {
      delivery: headers ? withHeaders(reaction.delivery, headers) : reaction.delivery,
      delay: reaction.delay + delay,
      sent: reaction.sent,
      over: release,
    };
  }

  #process(endpoint: Endpoint, call: Call, record: RequestRecord): Reaction {
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
