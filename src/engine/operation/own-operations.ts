import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hashFile } from '../../base/disk/hash-file.ts';
import { type CqbatchError, usageError } from '../../base/errors/errors.ts';
import { defineOperation, type Operation } from './operation.ts';

/** The default export of a module. It gets `defineOperation` as a parameter, so it needs to import no package. */
export type OperationsModule = (tools: {
  readonly defineOperation: typeof defineOperation;
}) => Operation | readonly Operation[];

/**
 * The module is code that runs with all rights of this process.
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
  const exported = await importDefault(module, folder).catch((error: Error) => {
    throw unusable(`can't be loaded: ${error.message}`, error);
  });
  if (typeof exported !== 'function')
    throw unusable('must have a function as default export: export default ({ defineOperation }) => [ … ]');
  let made: unknown;
  try {
    made = await exported({ defineOperation });
  } catch (error) {
    throw unusable((error as Error).message, error);
  }
  const operations = [made].flat() as readonly Partial<Operation>[];
  const names = new Set(existing.map(({ name }) => name));
  for (const operation of operations) {
    if (typeof operation?.check !== 'function')
      throw unusable('the function must return an operation made by defineOperation, or an array of them');
    const { name = '' } = operation;
    if (names.has(name)) throw unusable(`an operation ${name} already exists`);
    names.add(name);
  }
  const { sha256 } = await hashFile(pathOf(module, folder));
  return (operations as readonly Operation[]).map((operation) => ({ ...operation, module: sha256 }));
}

function pathOf(module: string, folder: string): string {
  const isPath = /^\.{0,2}[/\\]|\.[cm]?[jt]s$/.test(module);
  return isPath ? resolve(folder, module) : createRequire(join(folder, 'noop.js')).resolve(module);
}

async function importDefault(module: string, folder: string): Promise<unknown> {
  const path = pathOf(module, folder);
  return ((await import(pathToFileURL(path).href)) as { readonly default?: unknown }).default;
}
