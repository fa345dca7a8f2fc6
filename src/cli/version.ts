import { readFileSync } from 'node:fs';

/** The version of this program. */
export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
