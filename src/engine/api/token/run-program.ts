import { spawn } from 'node:child_process';

export interface CommandEnd {
  readonly out: string;
  readonly errors: string;
  readonly problem?: 'is not found' | (string & {}) | undefined;
}

/** Runs a program for at most `limitMs`. Never rejects. */
export type RunProgram = (words: readonly string[], limitMs: number) => Promise<CommandEnd>;

const mostBytes = 65_536;

/**
 * Runs a program without a shell and input, for a limited time. In its own process group, the program survives the Ctrl-C that stops a run,
 * so the last calls get their token, and stopping it stops what it started.
 */
export const runProgram: RunProgram = ([program = '', ...args], limitMs) =>
  new Promise((resolve) => {
    let [out, errors] = ['', ''];
    let timer: NodeJS.Timeout | undefined;
    const end = (problem?: string): void => {
      clearTimeout(timer);
      resolve({ out, errors, problem });
    };
    const hasGroup = process.platform !== 'win32';
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: hasGroup,
      windowsHide: true,
    });
    const stop = (problem: string): void => {
      end(problem);
      try {
        if (hasGroup && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
        else child.kill('SIGKILL');
      } catch {
        // The program has just ended by itself.
      }
      child.stdout.destroy();
      child.stderr.destroy();
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.length > mostBytes) stop('printed more than 64 KiB');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < mostBytes) errors += text;
    });
    child.once('error', ({ code, syscall }: NodeJS.ErrnoException) => {
      if (code === 'ENOENT') end('is not found');
      else end(code === 'EACCES' ? 'may not be executed' : `can't be started (${code ?? syscall})`);
    });
    child.once('close', (code, signal) => {
      if (signal !== null) end(`was ended by ${signal}`);
      else end(code === 0 ? undefined : `failed with exit code ${code}`);
    });
    timer = setTimeout(() => stop(`took longer than ${limitMs / 1_000} s and was stopped`), limitMs);
  });
