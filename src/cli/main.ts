#!/usr/bin/env node
import { writeSync } from 'node:fs';

// Where a process may open very few files, not even its own parts can be read; who says so must need none of them.
try {
  const { runProcess } = await import('./command-line.ts');
  await runProcess();
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
  writeSync(
    2,
    'error: this process has reached its limit of open files: raise the limit (as with "ulimit -n 1024")\n',
  );
  process.exitCode = 4;
}
