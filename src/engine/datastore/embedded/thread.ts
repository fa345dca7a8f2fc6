import { workerData } from 'node:worker_threads';
import type { ThreadData } from './connection.ts';

/** The first file of the datastore's thread. It imports the others when their compiled code can be kept. */

const { keepsCompiledCode } = workerData as ThreadData;
if (keepsCompiledCode) (await import('../../../base/disk/code-cache.ts')).keepCompiledCode();
const { serveDatabase } = await import('./database.ts');
await serveDatabase();
