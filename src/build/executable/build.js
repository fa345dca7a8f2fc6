import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { inject } from 'postject';
import { rolldown } from 'rolldown';
import { create } from 'tar';

/**
 * Makes an executable of the built package and of the Node that runs this script: dist/cqbatch-linux-x64 or -arm64. Newer Nodes need no
 * unpacking (`useVfs`, in early development), but Node 26 alone has 150 MB.
 */

if (process.platform !== 'linux') throw new Error('The executable is made on Linux, for Linux.');
const executable = `dist/cqbatch-linux-${process.arch}`;
const folder = mkdtempSync(join(tmpdir(), 'cqbatch-executable-'));
const at = (name) => join(folder, name);

const declarations = resolve('dist/bin/types');
for (const path of ['package.json', 'dist/bin', 'dist/page', 'dist/template.tar', 'docs/config.schema.json'])
  cpSync(path, at(`content/${path}`), { recursive: true, filter: (from) => resolve(from) !== declarations });
copyFileSync('src/build/executable/start.cjs', at('content/start.cjs'));
copyFileSync(licenseOfNode(), at('content/LICENSE-of-Node'));
const archive = at('package.tar.gz');
create({ file: archive, cwd: at('content'), gzip: { level: 9 }, portable: true, noMtime: true, sync: true }, [
  '.',
]);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
writeFileSync(at('name'), `${version}-${digest.slice(0, 16)}`);

const bundle = await rolldown({ input: 'dist/src/build/executable/main.js', platform: 'node' });
await bundle.write({ file: at('main.cjs'), format: 'cjs' });
const parts = {
  main: at('main.cjs'),
  output: at('blob'),
  disableExperimentalSEAWarning: true,
  assets: { package: archive, name: at('name') },
};
writeFileSync(at('parts.json'), JSON.stringify(parts));
execFileSync(process.execPath, ['--experimental-sea-config', at('parts.json')]);
copyFileSync(process.execPath, at('executable'));
// The mark that says whether Node's executable contains a program.
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
await inject(at('executable'), 'NODE_SEA_BLOB', readFileSync(parts.output), { sentinelFuse });
rmSync(executable, { force: true });
copyFileSync(at('executable'), executable);
rmSync(folder, { recursive: true });
process.stdout.write(`${executable}\n`);

/** From Node's archive or Debian's package. */
function licenseOfNode() {
  const paths = ['../LICENSE', '../share/doc/nodejs/LICENSE'].map((path) =>
    join(dirname(process.execPath), path),
  );
  const found = paths.find(existsSync);
  if (found === undefined) throw new Error(`Node's license is missing: ${paths.join(', ')}`);
  return found;
}
