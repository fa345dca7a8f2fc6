import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getAsset } from 'node:sea';
import { gunzipSync } from 'node:zlib';
import { codeCachePath } from '../../base/disk/code-cache.ts';
import { unpackOnce } from './unpack.ts';

/**
 * Unpacks the package into the user's cache at the first start, because Node reads no other module from an executable, and PGlite reads
 * files beside its code.
 */
const cache = codeCachePath();
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
