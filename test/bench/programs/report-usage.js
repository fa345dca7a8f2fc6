// @ts-check
/** Preloaded into a process that is measured: writes what it took when it ends. */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { peakMemory } from './peak-memory.js';

const file = process.env['BENCH_USAGE_FILE'];

// Threads preload this, too, but CPU time and memory are those of the whole process.
if (isMainThread && file !== undefined) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeFileSync(file, JSON.stringify({ cpuMs: (user + system) / 1_000, peakMb: peakMemory() }));
  });
}
