/**
 * The sandbox as tests start it, in their own process, because another process takes half a second to start. In addition to
 * `cqbatch sandbox`, it
 *
 * - reports when a number of requests have arrived,
 * - changes its behavior at any moment: `configure`,
 * - keeps calls in flight for as long as a test wants: `hold`,
 * - has faults that users do not rehearse: `403` refuses a call as forbidden, and `429` as a limit does, however slow the
 *   machine is; after processing a call, `wrong-id` names the next identifier in a 200, `slow-body` sends the second half of
 *   the answer late (`--slow-body-delay`, 5s), and `cut-body` closes the connection after the first half.
 */
import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { deferred } from '../../src/base/async/waiting.ts';
import { parseJson, stringifyJson } from '../../src/base/text/json.ts';
import { type HttpAnswer, refuse, retryAfter } from '../../src/sandbox/answer.ts';
import {
  type FaultKind,
  faultAfterProcessing,
  faultKinds,
  parseFaults,
  sendWhole,
} from '../../src/sandbox/faults.ts';
import { stateLines } from '../../src/sandbox/look.ts';
import { type GivenOptions, parseDuration, readOptions } from '../../src/sandbox/notation.ts';
import { sandboxOptions } from '../../src/sandbox/options.ts';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import { startSandbox as serve } from '../../src/sandbox/sandbox.ts';
import { type Reaction, Service } from '../../src/sandbox/service.ts';
import type { Soundboard } from '../../src/sandbox/soundboard.ts';
import type { Evaluation } from '../../src/sandbox/state.ts';

const help = ['', '', ''] as const;

const testOptions = {
  ...sandboxOptions,
  // These depend on each other.
  fault: { byDefault: 'none', read: (_: string, text: string) => text, help },
  slowBodyDelay: { byDefault: '5s', read: parseDuration, help },
};

/** Options of `cqbatch sandbox` and those of the tests, in camelCase. */
export type TestOptions = GivenOptions<typeof testOptions>;

/** A sandbox that runs until the test ends, with what it saw. */
export interface TestSandbox {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** The variables with which a command calls it, with the token of tests. */
  readonly env: Readonly<Record<string, string>>;
  /** Waits until it has received this many requests. */
  requested(requests: number): Promise<void>;
  /** Every request that it has received so far, in order. */
  log(): Promise<readonly LogEntry[]>;
  /** The entities that were changed. */
  changed(): Promise<readonly object[]>;
  evaluation(id: number): Evaluation | undefined;
  soundboard(id: number): Soundboard | undefined;
  /** Changes its behavior from now on. A given limit starts with its whole allowance; other options stay. */
  configure(changes: TestOptions): void;
  /** Carries out calls from now on, but answers none of them until `release`, which also ends the hold. */
  hold(): { release(): void };
  close(): void;
}

/** What the service looks like. */
export const shapes = ['document', 'gateway', 'connect'] as const;

export const sandboxToken = 'a-token-that-must-never-be-seen';

/** Starts a sandbox with flags of `cqbatch sandbox` or of the tests. */
export async function startSandbox(...flags: string[]): Promise<TestSandbox> {
  return startTestSandbox({ token: sandboxToken, ...optionsOf(flags) });
}

export async function startTestSandbox(options: TestOptions): Promise<TestSandbox> {
  let given = options;
  const service = new TestService(given);
  const { url, port, close } = await serve(service);
  onTestFinished(close);
  const [token] = service.settings.token;
  return {
    url,
    port,
    token,
    env: { CQBATCH_BASE_URL: url, CQBATCH_TOKEN: sandboxToken },
    requested: (requests) => service.requested(requests),
    log: async () => service.log.entries.map((entry) => ({ ...entry })),
    changed: async () => [...stateLines(service.state, [])].map(asAnswered),
    evaluation: (id) => asAnswered(service.state.evaluation(BigInt(id))),
    soundboard: (id) => asAnswered(service.state.soundboard(BigInt(id))),
    configure(changes) {
      given = { ...given, ...changes };
      const { limit } = service.settings;
      service.settings = readTestOptions(given);
      if (changes.limit === undefined) service.settings = { ...service.settings, limit };
    },
    hold: () => service.hold(),
    close,
  };
}

/** With integers as JSON has them. */
function asAnswered<Thing extends object | undefined>(thing: Thing): Thing {
  return thing && (parseJson(stringifyJson(thing)) as Thing);
}

/** `['--slow-body-delay', '1s']` as `{ slowBodyDelay: '1s' }`. */
function optionsOf(flags: readonly string[]): TestOptions {
  const given = flags.flatMap((flag, index) => {
    if (!flag.startsWith('--')) return [];
    const name = flag.slice(2).replace(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase());
    const next = flags[index + 1];
    return [[name, next === undefined || next.startsWith('--') ? true : next] as const];
  });
  return Object.fromEntries(given);
}

function readTestOptions(given: TestOptions) {
  const { fault, slowBodyDelay, ...settings } = readOptions(testOptions, given);
  return {
    ...settings,
    fault: parseFaults('--fault', fault, [...allFaults(slowBodyDelay), forbidden, tooMany]),
  };
}

class TestService extends Service {
  readonly #waiting = new Map<() => void, number>();
  #held: Promise<void> | undefined;

  constructor(options: TestOptions) {
    super(readTestOptions(options));
  }

  override react(...request: Parameters<Service['react']>): Reaction {
    const reaction = super.react(...request);
    for (const [resolve, requests] of this.#waiting) {
      if (this.log.entries.length >= requests) resolve();
    }
    return this.#held === undefined ? reaction : answeredAfter(this.#held, reaction);
  }

  hold(): { release(): void } {
    const { promise, resolve } = deferred();
    this.#held = promise;
    return {
      release: () => {
        this.#held = undefined;
        resolve();
      },
    };
  }

  requested(requests: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.log.entries.length >= requests) resolve();
      else this.#waiting.set(resolve, requests);
    });
  }
}

function answeredAfter(held: Promise<void>, reaction: Reaction): Reaction {
  const { send = sendWhole, entry } = reaction;
  return {
    ...reaction,
    async send(response, answer) {
      await held;
      if (response.req.socket.destroyed) return;
      send(response, answer);
      if (response.headersSent) entry.status = response.statusCode;
    },
  };
}

const forbidden: FaultKind = {
  name: '403',
  processed: false,
  summary: '',
  spoil: () => refuse('PERMISSION_DENIED', 'the access token does not permit this operation'),
};

const tooMany: FaultKind = {
  name: '429',
  processed: false,
  summary: '',
  spoil: () => refuse('RESOURCE_EXHAUSTED', 'too many requests', { headers: retryAfter(1) }),
};

/** The faults for users and those only for tests, except `403`, after which a run halts, and `429`, which limits give. */
export function allFaults(slowBodyDelay: number): readonly FaultKind[] {
  return [
    ...faultKinds,
    faultAfterProcessing('wrong-id', '', { spoil: withOtherIdentifier }),
    faultAfterProcessing('slow-body', '', {
      send: (response, answer) => {
        const second = sendFirstHalf(response, answer);
        setTimeout(() => response.end(second), slowBodyDelay).unref();
      },
    }),
    faultAfterProcessing('cut-body', '', {
      // Closed instead of reset, because a reset may overtake the first half.
      send: (response, answer) => {
        sendFirstHalf(response, answer, () => response.req.socket.destroy());
      },
    }),
  ];
}

function withOtherIdentifier(answer: HttpAnswer | undefined): HttpAnswer | undefined {
  if (answer?.status !== 200) return undefined;
  const other = (_: string, before: string, id: string) => `${before}${BigInt(id) + 1n}`;
  const identifier = /("(?:evaluation|soundboard)_?id":"?)(\d+)/i;
  return { ...answer, body: textOf(answer.body).replace(identifier, other) };
}

function textOf(body: HttpAnswer['body']): string {
  return typeof body === 'string' ? body : [...body].join('');
}

/** @returns the second half of the body */
function sendFirstHalf(response: ServerResponse, answer: HttpAnswer | undefined, sent?: () => void): Buffer {
  const { status = 500, headers, body = '' } = answer ?? {};
  const bytes = Buffer.from(textOf(body));
  const middle = Math.floor(bytes.length / 2);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  response.write(bytes.subarray(0, middle), sent);
  return bytes.subarray(middle);
}
