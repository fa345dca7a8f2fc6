import { once } from 'node:events';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import { startCqbatch } from './cqbatch.ts';

/** A sandbox in a process of its own, with what it saw. */
export interface SandboxProcess {
  readonly url: string;
  /** What a command needs to call it. */
  readonly env: Readonly<Record<string, string>>;
  /** Every request that it has received, in order. */
  log(): Promise<readonly LogEntry[]>;
  /** What it holds of what was changed. */
  changed(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  post(path: string, body: object): Promise<void>;
}

export const sandboxToken = 'a-token-that-must-never-be-seen';

export async function startSandbox(...args: string[]): Promise<SandboxProcess> {
  const child = startCqbatch(['sandbox', '--json', '--port', '0', '--token', sandboxToken, ...args], {
    cwd: '/',
  });
  if (child.stdout === null) throw new Error('standard output is not piped');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(String(line)) as { url: string };
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
