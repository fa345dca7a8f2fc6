import { setMaxListeners } from 'node:events';
import { updateSoundboard } from '../../jobs/update-soundboard.ts';
import type { ApiAnswer, SendOptions } from '../../src/engine/api/client.ts';
import type { ApiFailure } from '../../src/engine/api/failure.ts';
import type { ApiRequest } from '../../src/engine/api/request.ts';
import type { Operation } from '../../src/engine/operation/operation.ts';
import type { Random } from './random.ts';
import type { Scenario } from './scenario.ts';
import type { SimulatedProcess, World } from './world.ts';

/** What the API and its observers see of a call. */
export interface ApiLog {
  /** A request leaves a worker. */
  sent(row: number, worker: SimulatedProcess): void;
  /** Its worker gets an answer, or gives it up. */
  answered(row: number, worker: SimulatedProcess, code: string): void;
  /** No answer tells whether it was carried out. */
  doubted(row: number): void;
  /** It is answered with a success that can't be read. */
  unread(row: number): void;
  /** It is carried out. */
  done(row: number): void;
}

/** The content of a request's body, by which the API distinguishes rows. */
export interface Body {
  readonly row: number;
  readonly soundboard_id: number;
}

/** The operation of all rows of a run. */
export function operationIn({ repeatable }: Scenario): Operation {
  return {
    ...updateSoundboard,
    repeatable,
    request({ soundboard_id, title }) {
      const body: Body = { row: Number(title), soundboard_id: Number(soundboard_id) };
      return { path: '/update', body: JSON.stringify(body) };
    },
  };
}

/** The same, whose code may throw wherever a worker uses it. */
export function throwingOperation(scenario: Scenario, mayThrow: () => void): Operation {
  const operation = operationIn(scenario);
  const throwing =
    <Asked extends readonly unknown[], Told>(membership: (...asked: Asked) => Told) =>
    (...asked: Asked): Told => {
      mayThrow();
      return membership(...asked);
    };
  return {
    ...operation,
    check: throwing(operation.check),
    meansDone: throwing(operation.meansDone),
    meansAlreadyApplied: throwing(operation.meansAlreadyApplied),
  };
}

/** An API whose calls take time, fail and get lost as the scenario says. */
export class SimulatedApi {
  readonly #world: World;
  readonly #random: Random;
  readonly #scenario: Scenario;
  readonly #log: ApiLog;
  readonly #refused = new Map<number, boolean>();
  /** How often it has refused the limited row. */
  #limited = 0;
  #changes = 0;

  constructor(world: World, scenario: Scenario, log: ApiLog) {
    this.#world = world;
    this.#random = world.random.fork();
    this.#scenario = scenario;
    this.#log = log;
  }

  /** The client of a worker. */
  clientOf(worker: SimulatedProcess) {
    return {
      send: (request: ApiRequest, { signal }: SendOptions = {}): Promise<ApiAnswer> =>
        new Promise((resolve) => worker.step(() => this.#call(request, worker, signal, resolve))),
    };
  }

  #call(
    request: ApiRequest,
    worker: SimulatedProcess,
    signal: AbortSignal | undefined,
    resolve: (answer: ApiAnswer) => void,
  ): void {
    const { row, soundboard_id } = JSON.parse(request.body) as Body;
    const world = this.#world;
    const random = this.#random;
    const { slow, latencyMs, unreachable, throttled, broken, answerLost, unread } = this.#scenario.api;
    const begunAt = world.now;
    let isOver = false;
    const answer = (requests: number, said: Outcome): void => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener('abort', abort);
      this.#log.answered(row, worker, said.ok ? 'OK' : said.failure.code);
      if (said.ok ? !isReadable(said.body) : said.failure.unclear) this.#log.doubted(row);
      resolve({ requests, durationMs: world.now - begunAt, ...said });
    };
    const abort = (): void => answer(1, failed('aborted', 'INTERRUPTED', true));
    const later = (delayMs: number, requests: number, said: Outcome): void =>
      void world.later(delayMs, () => answer(requests, said), { owner: worker, kind: 'reply' });
    const away = random.between(0.1, latencyMs) * (random.chance(slow) ? random.between(1, 20) : 1);
    const back = random.between(0.1, latencyMs);

    if (random.chance(unreachable)) {
      later(back, 0, failed('unreachable', 'CONNECTION_REFUSED', false));
      return;
    }
    this.#log.sent(row, worker);
    if (signal !== undefined) setMaxListeners(0, signal);
    signal?.addEventListener('abort', abort);
    const fate = random.next();
    world.later(
      away,
      () => {
        if (this.#isLimited(row) || fate < throttled)
          return later(
            back,
            1,
            failed('slow-down', 'RESOURCE_EXHAUSTED', false, 429, random.between(100, 3_000)),
          );
        if (this.#isRefused(row)) return later(back, 1, failed('permanent', 'NOT_FOUND', false, 400));
        const isBroken = random.chance(broken);
        if (isBroken && random.chance(0.5)) return later(back, 1, failed('retry', 'INTERNAL', true, 500));
        this.#log.done(row);
        if (this.#isUnread(unread)) {
          this.#log.unread(row);
          return later(back, 1, this.#unreadSuccess());
        }
        if (isBroken) return later(back, 1, failed('retry', 'INTERNAL', true, 500));
        if (random.chance(answerLost)) return later(back, 1, failed('retry', 'CONNECTION_LOST', true));
        later(back, 1, { ok: true, status: 200, body: { soundboard_id } });
      },
      { owner: null },
    );
  }

  /** From a first call on, all answers are such, or each with this probability. */
  #isUnread({ first, share }: Scenario['api']['unread']): boolean {
    this.#changes += 1;
    return this.#changes <= first || (share > 0 && this.#random.chance(share));
  }

  /** Not JSON, cut off in the middle, or JSON that says nothing of the row. */
  #unreadSuccess(): Outcome {
    return this.#random.pick([
      failed('retry', 'ANSWER_NOT_JSON', true, 200),
      failed('retry', 'ANSWER_CUT_OFF', true, 200),
      { ok: true, status: 200, body: {} },
      { ok: true, status: 204, body: null },
    ] as const);
  }

  #isLimited(row: number): boolean {
    const { limitedRow } = this.#scenario;
    if (row !== limitedRow?.row || this.#limited >= limitedRow.refusals) return false;
    this.#limited += 1;
    return true;
  }

  #isRefused(row: number): boolean {
    const known = this.#refused.get(row) ?? this.#random.chance(this.#scenario.api.refused);
    this.#refused.set(row, known);
    return known;
  }
}

function isReadable(body: unknown): boolean {
  return body !== null && Object.keys(body as object).length > 0;
}

type Outcome =
  | { readonly ok: true; readonly status: number; readonly body: unknown }
  | { readonly ok: false; readonly failure: ApiFailure };

function failed(
  failureClass: ApiFailure['class'],
  code: ApiFailure['code'],
  unclear: boolean,
  status?: number,
  waitMs?: number,
): Outcome {
  const failure: ApiFailure = {
    class: failureClass,
    code,
    message: code.toLowerCase(),
    unclear,
    ...(status !== undefined && { status }),
    ...(waitMs !== undefined && { waitMs }),
  };
  return { ok: false, failure };
}
