#!/usr/bin/env node
import { writeSync } from 'node:fs';
import module from 'node:module';

// A process that may open too few files to load its modules must still say so.
try {
  if ('enableCompileCache' in module) (await import('../base/disk/code-cache.ts')).keepCompiledCode();
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
