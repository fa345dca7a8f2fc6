import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { getAsset } from 'node:sea';
import { gunzipSync } from 'node:zlib';
import { unpackOnce } from './unpack.ts';

/**
 * Unpacks the package into the user's cache at the first start, because Node reads no other module from an executable, and PGlite reads
 * files beside its code.
 */
// biome-ignore lint/style/noProcessEnv: not a setting of the command
const cache = resolve(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'cqbatch');
try {
  const folder = unpackOnce(() => gunzipSync(getAsset('package')), cache, getAsset('name', 'utf8'));
  // From here, only modules of Node can be imported.
  createRequire(cache)(join(folder, 'start.cjs'));
} catch (error) {
  const { message } = error as Error;
  process.stderr.write(
    `error: can't unpack the program: ${message}. Set XDG_CACHE_HOME to another folder of yours.\n`,
  );
  process.exitCode = 4;
}
