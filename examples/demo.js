#!/usr/bin/env node
/**
 * `npm run demo`: the main job from end to end, on this machine alone. Starts the sandbox with faults and a rate limit,
 * runs examples/mixed.csv against it, and shows where the report is. Everything happens in the folder `demo`. Each demo
 * makes a new one and leaves it, so that you can type the commands that it prints at the end.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const cqbatch = fileURLToPath(new URL('../dist/bin/cqbatch.js', import.meta.url));
const manifest = fileURLToPath(new URL('mixed.csv', import.meta.url));
const folder = resolve('demo');

const found = await readdir(folder).catch(() => []);
if (found.length > 0 && !found.includes('.cqbatch')) {
  console.error(`${folder} is not of an earlier demo: move it away, or start the demo elsewhere.`);
  process.exit(2);
}
await rm(folder, { recursive: true, force: true });
await mkdir(join(folder, '.cqbatch'), { recursive: true });
await copyFile(manifest, join(folder, 'mixed.csv'));

// The sandbox is on this machine, to which no proxy leads.
const nearby = { NO_PROXY: '*', no_proxy: '*' };

const trouble = ['--fault', 'reset=1%,timeout=0.5%,500=1%,502-after-commit=1%,malformed=0.5%'];
// As the real service probably answers: camelCase, identifiers as strings, times that are zero.
const shape = ['--shape', 'gateway'];
const limit = ['--limit', 'token-bucket:rate=60,burst=20', '--latency', '20ms..60ms'];

console.log('The service, as a sandbox with faults and a limit of 60 calls a second:');
const sandboxArgs = [...shape, ...trouble, ...limit];
console.log(`$ cqbatch sandbox ${sandboxArgs.join(' ')}\n`);
const sandbox = spawn(process.execPath, [cqbatch, 'sandbox', '--json', '--port', '0', ...sandboxArgs], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(sandbox.stdout, 'data');
const { url, port, token } = JSON.parse(line);

// What is the same for every command stands in the state folder.
const settings = { base_url: url, token_file: 'token', timeout: '2s' };
await writeFile(join(folder, 'token'), `${token}\n`, { mode: 0o600 });
await writeFile(join(folder, '.cqbatch', 'config.json'), `${JSON.stringify(settings, null, 2)}\n`);

console.log('The job: restore evaluations and update soundboards, as fast as the service permits:');
console.log('$ cqbatch run mixed.csv --yes --allow-partial\n');
const {
  CQBATCH_BASE_URL: _url,
  CQBATCH_TOKEN: _token,
  CQBATCH_STATE_DIR: _folder,
  ...environment
} = process.env;
const options = { cwd: folder, env: { ...environment, ...nearby } };
const run = spawn(process.execPath, [cqbatch, 'run', 'mixed.csv', '--yes', '--allow-partial'], {
  ...options,
  stdio: 'inherit',
});
const [code] = await once(run, 'close');
sandbox.kill();

if (code > 1) process.exit(code);
const status = spawn(process.execPath, [cqbatch, 'report', '--json'], {
  ...options,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const { files } = JSON.parse((await status.stdout.toArray()).join(''));
const report = join(folder, files.report);
console.log(`\nEach row with its result; the first three rows:\n${report}\n`);
console.log((await readFile(report, 'utf8')).replace('\ufeff', '').split('\n').slice(0, 4).join('\n'));

const commands = [
  ['cd demo', ''],
  ...(await pathCommand()),
  ['cqbatch status', 'where the run stands'],
  ['cqbatch list', 'all runs of this folder'],
  ['cqbatch plan mixed.csv --allow-partial', 'what a run would send'],
  [`cqbatch sandbox --port ${port} ${shape.join(' ')} --quiet &`, 'the service again; "kill %1" ends it'],
  ['cqbatch run mixed.csv --allow-partial', 'the job again: it asks first'],
];
const width = Math.max(...commands.map(([command]) => command.length));
console.log('\nWhat you can type now:');
for (const [command, purpose] of commands) console.log(`  ${command.padEnd(width)}  ${purpose}`.trimEnd());

/** Where the command is not installed, the folder has it. */
async function pathCommand() {
  if (spawnSync('cqbatch', ['--version']).status === 0) return [];
  const script = join(folder, 'cqbatch');
  await writeFile(script, `#!/bin/sh\nexec '${process.execPath}' '${cqbatch}' "$@"\n`);
  await chmod(script, 0o755);
  return [['export PATH="$PWD:$PATH"', 'finds cqbatch here; "npm link" installs it']];
}
