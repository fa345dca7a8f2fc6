import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { findProgram } from './program.ts';

interface Wanted {
  /** A Debian package. */
  readonly name: string;
  /** Its programs, one of which must exist. */
  readonly programs: readonly string[];
}

/** What `npm test` starts besides Node. */
const ofJourneys: readonly Wanted[] = [
  { name: 'redis-server', programs: ['redis-server', 'valkey-server'] },
  { name: 'chromium', programs: ['chromium'] },
];

/** What all tests start. */
const ofAll: readonly Wanted[] = [
  ...ofJourneys,
  { name: 'faketime', programs: ['faketime'] },
  { name: 'zsh', programs: ['zsh'] },
  { name: 'fish', programs: ['fish'] },
  { name: 'curl', programs: ['curl'] },
  { name: 'openssl', programs: ['openssl'] },
];

/** Debian calls this program before it starts the service of a new package; 101 means no. */
const policy = '/usr/sbin/policy-rc.d';

/**
 * Installs the programs that tests need and this machine lacks, where that is possible without asking: as root, with Debian's
 * packages. Elsewhere the tests that need one are skipped, or fail (see `describeWithProgram`).
 */
export default function installDebianPackages({ name: project }: TestProject): void {
  const wanted = project === 'journeys' ? ofJourneys : ofAll;
  const missing = wanted.filter(({ programs }) => findProgram(programs) === undefined);
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.log(
      `Tests that need ${names.join(' or ')} do not run: not installed, and this is not root on Debian.`,
    );
    return;
  }
  console.log(`Installing ${names.join(', ')} from Debian for the tests`);
  try {
    withoutServices(() => install(names));
  } catch (error) {
    console.log(`${names.join(', ')}: not installed, so tests that need it do not run. ${error}`);
  }
}

/** If package lists are missing or outdated, they are fetched, and the installation is tried again. */
function install(names: readonly string[]): void {
  const command = ['install', '-y', '--no-install-recommends', ...names];
  try {
    apt(...command);
  } catch {
    apt('update');
    apt(...command);
  }
}

function withoutServices(body: () => void): void {
  const isOurs = !existsSync(policy);
  try {
    if (isOurs) {
      writeFileSync(policy, '#!/bin/sh\nexit 101\n');
      chmodSync(policy, 0o755);
    }
    body();
  } finally {
    if (isOurs) rmSync(policy, { force: true });
  }
}

function apt(...args: string[]): void {
  execFileSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  });
}
