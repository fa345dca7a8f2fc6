import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Finished } from './cqbatch.ts';

/** A process, with its output so far. */
export interface Observed {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when the process has ended and all of its output has arrived. */
  readonly end: Promise<Finished>;
  /** Waits until its standard error contains a text, written before or after this call. */
  says(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

/** Collects the output of a process from now on, so that its pipes never fill up and nothing is missed. */
export function observe(child: ChildProcess): Observed {
  let stdout = '';
  let stderr = '';
  let code: number | null | undefined;
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const end = once(child, 'close').then(([exitCode]): Finished => {
    code = exitCode as number | null;
    return { code, stdout, stderr };
  });
  return {
    pid: child.pid ?? 0,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    end,
    async says(text) {
      while (!stderr.includes(text)) {
        if (code !== undefined)
          throw new Error(`It ended (${code}) without saying ${JSON.stringify(text)}:\n${stderr}`);
        await Promise.race([child.stderr === null ? end : once(child.stderr, 'data'), end]);
      }
    },
    kill: (signal) => void child.kill(signal),
  };
}
