import { onTestFinished } from 'vitest';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import { startSandbox as start } from '../../src/sandbox/sandbox.ts';

/** A sandbox until the test ends, with what it saw. */
export interface TestSandbox {
  readonly url: string;
  /** What a command needs to call it. */
  readonly env: Readonly<Record<string, string>>;
  /** Waits until it has received so many requests. */
  requested(requests: number): Promise<void>;
  /** Every request that it has received, in order. */
  log(): Promise<readonly LogEntry[]>;
  /** What it holds of what was changed. */
  changed(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  post(path: string, body: object): Promise<void>;
}

export const sandboxToken = 'a-token-that-must-never-be-seen';

/** Starts a sandbox with flags of `cqbatch sandbox`, in this process: another one takes half a second to start. */
export async function startSandbox(...flags: string[]): Promise<TestSandbox> {
  const { url, close } = await start({ token: sandboxToken, ...optionsOf(flags) });
  onTestFinished(close);
  const lines = async <Line>(path: string): Promise<Line[]> => {
    const text = await (await fetch(url + path)).text();
    return text
      .split('\n')
      .filter((row) => row !== '')
      .map((row) => JSON.parse(row) as Line);
  };
  return {
    url,
    env: { CQBATCH_BASE_URL: url, CQBATCH_TOKEN: sandboxToken },
    async requested(requests) {
      await fetch(`${url}/sandbox/stats?requests=${requests}`);
    },
    log: () => lines('/sandbox/log'),
    changed: () => lines('/sandbox/state?changed=true'),
    async post(path, body) {
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    },
  };
}

/** `['--slow-body-delay', '1s', '--forbidden']` as `{ slowBodyDelay: '1s', forbidden: true }`. */
function optionsOf(flags: readonly string[]): Readonly<Record<string, string | boolean>> {
  const given = flags.flatMap((flag, index) => {
    if (!flag.startsWith('--')) return [];
    const value = flags[index + 1];
    const name = flag.slice(2).replace(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase());
    return [[name, value === undefined || value.startsWith('--') ? true : value] as const];
  });
  return Object.fromEntries(given);
}
