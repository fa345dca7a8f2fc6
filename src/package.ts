import { existsSync, readFileSync } from 'node:fs';

/** The folder of this package, whether its code runs as written, compiled, or bundled. */
export const packageRoot = folderOfPackage();

function folderOfPackage(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder))) folder = new URL('..', folder);
  return folder;
}

/** The version of this program. */
export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
