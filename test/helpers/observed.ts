import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { onTestFailed } from 'vitest';
import { checkDocuments } from '../json-documents/check.ts';
import { argsOf, type Finished } from './cqbatch.ts';

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

const shownLines = 20;

/**
 * Collects the output of a process from now on, so that its pipes never fill up and nothing is missed. A test that fails shows
 * the end of it: otherwise a time-out does not tell what the process was waiting for. Documents are checked at the end.
 */
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
  onTestFailed(() => {
    const last = stderr.split('\n').slice(-shownLines - 1);
    const state = code === undefined ? 'still runs' : `ended with ${code}`;
    console.error([`Process ${child.pid} ${state}: ${child.spawnargs.join(' ')}`, ...last].join('\n'));
  });
  const end = once(child, 'close').then(([exitCode]): Finished => {
    code = exitCode as number | null;
    checkDocuments(argsOf(child), stdout);
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
