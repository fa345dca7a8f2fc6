import { readFileSync } from 'node:fs';
import { packageRoot } from '../package-root.ts';

/** The version of this program. */
export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
