import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { PGlite, types } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import type { Reply, Request, StatementError, StatementResult } from './connection.ts';
import { isFinal } from './final-error.ts';

/** Statements block their thread: a separate thread keeps HTTP calls, progress and timers running. */

const port = parentPort;
if (port === null) throw new Error('This file runs as a worker thread only.');
const firstMessage = once(port, 'message');

class LateFolder extends NodeFS {
  folder: string | undefined;

  override async init(pg: PGlite, emscriptenOpts: Parameters<NodeFS['init']>[1]) {
    this.pg = pg;
    return { emscriptenOpts };
  }

  override async initialSyncFs(): Promise<void> {
    const [root] = (await firstMessage) as [string];
    this.folder = root;
    const { FS, NODEFS } = (this.pg as PGlite).Module;
    reportRefusals(NODEFS as unknown as Parameters<typeof reportRefusals>[0]);
    FS.mkdirTree(PGlite.paths.PGDATA);
    FS.mount(NODEFS, { root }, PGlite.paths.PGDATA);
  }
}

const refusals = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);
/** Without file descriptors, PostgreSQL closes some and tries again. */
const shortages = new Set(['EMFILE', 'ENFILE']);
/** The last shortage since the current statement began: PostgreSQL may blame something else. */
let shortage: unknown;

/** Reports a refusing disk at once: PostgreSQL ends its process, but PGlite has none, and may spin forever or fail with another error. */
function reportRefusals(files: { tryFSOperation<Result>(operation: () => Result): Result }): void {
  const tryOperation = files.tryFSOperation;
  files.tryFSOperation = (operation) =>
    tryOperation(() => {
      try {
        return operation();
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== undefined && refusals.has(code))
          reply({ type: 'error', id: 0, error: asMessage(error) });
        if (code !== undefined && shortages.has(code)) shortage = error;
        throw error;
      }
    });
}

/** Array types that BullMQ uses, by PostgreSQL's numbers. */
const arrays = { 1009: types.TEXT, 1016: types.INT8, 3807: types.JSONB };

/** PGlite would query all array types, which doubles the time of opening. */
class Database extends PGlite {
  override async _initArrayTypes(): Promise<void> {
    for (const [name, element] of Object.entries(arrays)) {
      const array = Number(name);
      const { [element]: parse = String } = this.parsers;
      this.parsers[array] = (text) => types.arrayParser(text, parse, array);
      this.serializers[array] = (values) => types.arraySerializer(values, this.serializers[element], array);
    }
  }
}

/** Compiles PostgreSQL once and fast: optimizing would cost more than a run can save, and most functions are never called. */
const v8Flags = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering', '--wasm-lazy-validation'];

/** PostgreSQL's 128 MB of buffers would only fill up with old rows. */
const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];

const fs = new LateFolder('/');
let database: PGlite;

/** Opens the database in the folder that the first message names, then carries out the statements of the further messages. */
export async function serveDatabase(): Promise<void> {
  // After a flag of V8 has changed, Node compiles its own modules without their code cache: this thread has loaded its modules before.
  for (const flag of v8Flags) setFlagsFromString(flag);
  database = await openFolder();
  database.onNotification((channel, payload) => reply({ type: 'notification', channel, payload }));
  port?.on('message', (request: Request) => void serve(request));
  reply({ type: 'opened' });
}

async function openFolder(): Promise<PGlite> {
  try {
    const opened = new Database({ fs, startParams });
    await opened.waitReady;
    return opened;
  } catch (error) {
    throw shortage ?? (await openingFailure()) ?? error;
  }
}

/** PGlite shows the reason only in its debug output. */
async function openingFailure(): Promise<Error | undefined> {
  const { folder } = fs;
  if (folder === undefined) return undefined;
  const output: string[] = [];
  const keep = (...words: unknown[]): void => void output.push(words.join(' '));
  Object.assign(console, { log: keep, info: keep, warn: keep, error: keep });
  await PGlite.create({ dataDir: folder, startParams, debug: 1 })
    .then((opened) => opened.close())
    .catch(() => {});
  const reason = output
    .map((line) => /\b(?:FATAL|PANIC): +(.+)/.exec(line)?.[1])
    .find((text) => text !== undefined);
  return reason === undefined ? undefined : Object.assign(new Error(reason), { code: 'XX000' });
}

async function serve(request: Request): Promise<void> {
  shortage = undefined;
  try {
    if (request.type === 'close') {
      await database.close();
      reply({ type: 'result', id: request.id, result: { rows: [], rowCount: 0 } });
      port?.close();
      return;
    }
    reply({ type: 'result', id: request.id, result: await run(request.text, request.params) });
  } catch (error) {
    const cause = isFinal(error as Error) ? (shortage ?? error) : error;
    reply({ type: 'error', id: request.id, error: asMessage(cause) });
  }
}

function asMessage(error: unknown): StatementError {
  const { name, message, code, detail } = error as StatementError;
  return { name, message, ...(code !== undefined && { code }), ...(detail !== undefined && { detail }) };
}

/** Several statements at once (migrations) require the simple protocol, without parameters. */
async function run(text: string, params: readonly unknown[]): Promise<StatementResult> {
  const result =
    params.length > 0 ? await database.query(text, [...params]) : (await database.exec(text)).at(-1);
  const rows = (result?.rows ?? []) as Record<string, unknown>[];
  return { rows, rowCount: result?.affectedRows ?? rows.length };
}

function reply(message: Reply): void {
  port?.postMessage(message);
}
