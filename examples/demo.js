#!/usr/bin/env node
/**
 * `npm run demo`: the main job from end to end, on this machine alone. Starts the sandbox with faults and a rate limit,
 * runs examples/mixed.csv against it, and shows where the report is. Everything happens in a temporary folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cqbatch = fileURLToPath(new URL('../dist/bin/cqbatch.js', import.meta.url));
const manifest = fileURLToPath(new URL('mixed.csv', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'cqbatch-demo-'));

// The sandbox is on this machine, to which no proxy leads.
const nearby = { NO_PROXY: '*', no_proxy: '*' };

const trouble = ['--fault', 'reset=1%,timeout=0.5%,500=1%,502-after-commit=1%,malformed=0.5%'];
const limit = ['--limit', 'token-bucket:rate=60,burst=20', '--latency', '20ms..60ms'];

console.log('The service, as a sandbox with faults and a limit of 60 calls a second:');
console.log(`$ cqbatch sandbox ${trouble.join(' ')} ${limit.join(' ')}\n`);
const sandbox = spawn(process.execPath, [cqbatch, 'sandbox', '--json', '--port', '0', ...trouble, ...limit], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(sandbox.stdout, 'data');
const { url, token } = JSON.parse(line);

console.log('The job: restore evaluations and update soundboards, as fast as the service permits:');
console.log('$ cqbatch run examples/mixed.csv --yes --timeout 2s\n');
const run = spawn(process.execPath, [cqbatch, 'run', manifest, '--yes', '--timeout', '2s'], {
  cwd: folder,
  env: {
    ...process.env,
    CQBATCH_BASE_URL: url,
    CQBATCH_TOKEN: token,
    CQBATCH_STATE_DIR: '.cqbatch',
    ...nearby,
  },
  stdio: 'inherit',
});
const [code] = await once(run, 'close');
sandbox.kill();

if (code > 1) process.exit(code);
const status = spawn(process.execPath, [cqbatch, 'report', '--json'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const { files } = JSON.parse((await status.stdout.toArray()).join(''));
const report = join(folder, files.report);
console.log(`\nEvery row with what became of it, the first three of them:\n${report}\n`);
console.log((await readFile(report, 'utf8')).replace('\ufeff', '').split('\n').slice(0, 4).join('\n'));
