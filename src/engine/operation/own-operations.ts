import { realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { hashFile } from '../../base/disk/hash-file.ts';
import { type CqbatchError, errorText, usageError } from '../../base/errors/errors.ts';
import { defineOperation, type Operation } from './operation.ts';

/** The default export of a module of operations. It gets `defineOperation` as a parameter, so it needs to import no package. */
export type OperationsModule = (tools: {
  readonly defineOperation: typeof defineOperation;
}) => Operation | readonly Operation[];

/**
 * Loads a module, which is code that runs with all rights of this process.
 *
 * @param module a path, or the name of an installed package, as seen from the folder
 * @param folder default: the current folder
 * @throws a usage error `OPERATIONS_UNUSABLE` that names the module and its defect
 */
export async function loadOperations(
  module: string,
  existing: readonly Operation[],
  folder = process.cwd(),
): Promise<readonly Operation[]> {
  const unusable = (why: string, cause?: unknown): CqbatchError =>
    usageError('OPERATIONS_UNUSABLE', `--operations ${module}: ${why}`, cause);
  const path = await pathOf(module, folder);
  if (path === undefined) throw unusable('there is no such file or package; the path begins with ./ or /');
  const failed = async (error: unknown) => unusable(await defectOf(error, path), error);
  // The file is hashed before it is imported: the import of a pipe would wait without end.
  const { sha256 } = await hashFile(path).catch((error: Error) => {
    throw unusable(error.message, error);
  });
  const exported = await importDefault(path).catch(async (error: unknown) => {
    throw await failed(error);
  });
  if (typeof exported !== 'function')
    throw unusable('must have a function as default export: export default ({ defineOperation }) => [ … ]');
  let made: unknown;
  try {
    made = await exported({ defineOperation });
  } catch (error) {
    throw await failed(error);
  }
  const operations = [made].flat() as readonly Partial<Operation>[];
  const names = new Set(existing.map(({ name }) => name));
  const lists = new Set(existing.map(({ list }) => list?.name));
  for (const operation of operations) {
    if (typeof operation?.check !== 'function')
      throw unusable('the function must return an operation made by defineOperation, or an array of them');
    const { name = '', list } = operation;
    if (names.has(name)) throw unusable(`an operation ${name} already exists`);
    names.add(name);
    if (list === undefined) continue;
    if (lists.has(list.name)) throw unusable(`a list ${list.name} already exists`);
    lists.add(list.name);
  }
  return (operations as readonly Operation[]).map((operation) => ({ ...operation, module: sha256 }));
}

/** The path of a module. Undefined when there is no such module. */
async function pathOf(module: string, folder: string): Promise<string | undefined> {
  const isPath = /^\.{0,2}[/\\]|\.[cm]?[jt]s$/.test(module);
  try {
    return await realpath(
      isPath ? resolve(folder, module) : createRequire(join(folder, 'noop.js')).resolve(module),
    );
  } catch {
    return undefined;
  }
}

async function importDefault(path: string): Promise<unknown> {
  return ((await import(pathToFileURL(path).href)) as { readonly default?: unknown }).default;
}

/** The defect of a module in one line, with its line if known: `line 6: Unexpected identifier`. */
async function defectOf(error: unknown, path: string): Promise<string> {
  if ((error as NodeJS.ErrnoException)?.code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return "Node can't load this kind of file: pass JavaScript (.js or .mjs)";
  const [text = ''] = errorText(error).split('\n', 1);
  const stack = error instanceof Error ? error.stack : undefined;
  const line = lineIn(stack, path) ?? (error instanceof SyntaxError ? await lineOfMistake(path) : undefined);
  return line === undefined ? text : `line ${line}: ${text}`;
}

/** The first line of a file that a text mentions, as a stack trace does. */
function lineIn(text: string | undefined, path: string): string | undefined {
  for (const name of [pathToFileURL(path).href, path]) {
    const [, line] = text?.split(`${name}:`)[1]?.match(/^(\d+)/) ?? [];
    if (line !== undefined) return line;
  }
  return undefined;
}

/** The line of a syntax error. Such errors don't name their line, so Node checks the module without running it. */
async function lineOfMistake(path: string): Promise<string | undefined> {
  const { execFile } = await import('node:child_process');
  try {
    await promisify(execFile)(process.execPath, ['--check', path]);
    return undefined;
  } catch (error) {
    return lineIn((error as { readonly stderr?: string }).stderr, path);
  }
}
