import { execFileSync } from 'node:child_process';

/** The Redis server of this machine; undefined when there is none. */
export function redisProgram(): string | undefined {
  return ['redis-server', 'valkey-server'].find((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}
