import { existsSync, readFileSync } from 'node:fs';

/** The same for code that runs as written, compiled, or bundled. */
export const packageRoot = folderOfPackage();

function folderOfPackage(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder))) folder = new URL('..', folder);
  return folder;
}

export function readVersion(): string {
  return readManifest().version;
}

/** The oldest Node that the program runs on: `20.19`. */
export function readLeastNode(): string {
  return readManifest().engines.node.replace('>=', '');
}

function readManifest() {
  return JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
    readonly version: string;
    readonly engines: { readonly node: string };
  };
}
