import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { redisProgram } from './redis-program.ts';

/** Debian asks this program before it starts the service of a new package; 101 means no. */
const policy = '/usr/sbin/policy-rc.d';

/**
 * Makes sure that the tests have a Redis server, where that can be done without asking: as root, with Debian's
 * packages. Elsewhere the tests that need one are skipped, or fail (see `describeWithRedis`).
 */
export default function installRedis(): void {
  if (redisProgram() !== undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const ownPolicy = !existsSync(policy);
  try {
    if (ownPolicy) {
      writeFileSync(policy, '#!/bin/sh\nexit 101\n');
      chmodSync(policy, 0o755);
    }
    apt('update');
    apt('install', '-y', '--no-install-recommends', 'redis-server');
  } catch {
    // No network or no such package: the tests that need a server say so.
  } finally {
    if (ownPolicy) rmSync(policy, { force: true });
  }
}

function apt(...args: string[]): void {
  execFileSync('apt-get', ['-qq', ...args], {
    stdio: 'ignore',
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  });
}
