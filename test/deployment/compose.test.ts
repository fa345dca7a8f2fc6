import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type HealthState, startHealthServer } from '../../src/daemon/health.ts';
import type { Setting } from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/setting-table.ts';
import { variableOf } from '../../src/settings/settings.ts';
import { everyCommand, helpOf } from '../cli/help.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { type ComposeService, overrideSchema, readComposeFile, readComposeText } from './compose-file.ts';

const run = promisify(execFile);

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

const rehearsal = readComposeFile();
const { redis, sandbox, worker, coordinator } = rehearsal.services;
const services = Object.entries(rehearsal.services);
const workers = Object.entries({ worker, coordinator });
const programs = Object.entries({ sandbox, worker, coordinator });

/** The text after a flag of a command. */
function flagValue({ command }: ComposeService, flag: string): string {
  const value = command[command.indexOf(flag) + 1];
  if (!command.includes(flag) || value === undefined) throw new Error(`no ${flag} in ${command.join(' ')}`);
  return value;
}

const exitCode = (program: string, args: readonly string[], env = process.env): Promise<number> =>
  run(program, args, { env }).then(
    () => 0,
    (error: { readonly code: number }) => error.code,
  );

/** Runs the probe of a service against a port of this machine. Returns its exit code. */
function probe({ healthcheck }: ComposeService, inside: string, port: number): Promise<number> {
  const [form, program, flag = '', script = ''] = healthcheck.test;
  expect([form, program]).toEqual(['CMD', 'node']);
  expect(script).toContain(`http://127.0.0.1:${inside}/`);
  const moved = script.replace(`127.0.0.1:${inside}/`, `127.0.0.1:${port}/`);
  return exitCode(process.execPath, [flag, moved]);
}

describe('docker-compose.yml', () => {
  test('pins its images', () => {
    expect(redis.image).toMatch(/^redis:\d+\.\d+(\.\d+)?-/);
    expect(new Set(programs.map(([, { image }]) => image)).size).toBe(1);
  });

  test.each(services)('%s has only the rights that it needs, and restarts when it dies', (_name, service) => {
    const rights = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };
    expect(service).toMatchObject({ init: true, restart: 'unless-stopped', ...rights });
    expect(service).not.toHaveProperty('privileged');
  });

  test('workers can be scaled', () => {
    for (const key of ['container_name', 'ports', 'volumes']) expect(worker).not.toHaveProperty(key);
  });

  test('the coordinator keeps its state, reads manifests, and calls nothing', () => {
    expect(coordinator.environment['CQBATCH_STATE_DIR']).toBe('/var/lib/cqbatch');
    expect(coordinator.volumes).toEqual([
      'state:/var/lib/cqbatch',
      { type: 'bind', source: './examples', target: '/manifests', read_only: true },
    ]);
    expect(coordinator.command).toContain('--coordinate');
    expect(flagValue(coordinator, '--concurrency')).toBe('0');
  });

  test('only the sandbox can be reached, and only from this machine', () => {
    expect(services.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual([
      'sandbox',
    ]);
    expect(sandbox.ports).toEqual(['127.0.0.1::8791']);
    expect(redis.networks).toEqual(['queue']);
    expect(rehearsal.networks?.['queue']).toEqual({ internal: true });
  });
});

describe('the program understands', () => {
  test.each(workers)(
    'every variable that is set for %s: its help or the settings have it',
    async (_name, service) => {
      const help = await helpOf(service.command[0] ?? '', '--help');
      const withoutFlag = Object.entries<Setting>(settings).filter(([, { noFlag }]) => noFlag);
      const known = new Set([
        ...(help.match(/CQBATCH_[A-Z_]*[A-Z]/g) ?? []),
        ...withoutFlag.map(([name]) => variableOf(name)),
      ]);
      expect(Object.keys(service.environment).filter((name) => !known.has(name))).toEqual([]);
    },
  );
});

describe('the probe of', () => {
  test.each(workers)('%s distinguishes a healthy worker from an unhealthy one', async (_name, service) => {
    let state: HealthState = { healthy: true, ready: false };
    const health = await startHealthServer({ host: '127.0.0.1', port: 0, state: () => state });
    onTestFinished(() => health.close());
    const inside = flagValue(service, '--health-port');
    expect(await probe(service, inside, health.port)).toBe(0);
    state = { healthy: false, ready: false };
    expect(await probe(service, inside, health.port)).toBe(1);
    await health.close();
    expect(await probe(service, inside, health.port)).toBe(1);
  });

  test.each([
    ['answers', 'echo PONG', 0],
    ['refuses', 'echo "NOAUTH Authentication required."', 1],
    ['is loading', 'echo "LOADING Redis is loading the dataset in memory"', 1],
    ['is away', 'exit 1', 1],
  ])('Redis reports when it %s', async (_title, redisCli, expected) => {
    const [form, script = ''] = redis.healthcheck.test;
    expect(form).toBe('CMD-SHELL');
    const path = await commandNamed('redis-cli', redisCli);
    expect(await exitCode('/bin/sh', ['-c', script], { PATH: path })).toBe(expected);
  });
});

describe('the password of Redis', () => {
  const password = 'Correct0Horse1Battery2Staple';
  const secured = readComposeFile({ CQBATCH_REDIS_PASSWORD: password }).services;

  test('reaches Redis through its settings, not on a command line', async () => {
    const path = await commandNamed('redis-server', 'echo "arguments: $*"\ncat');
    const [program = '', ...args] = secured.redis.command;
    expect(JSON.stringify(secured.redis.command)).not.toContain(password);
    const { stdout } = await run(program, args, {
      env: { PATH: `${path}:${process.env['PATH']}`, ...secured.redis.environment },
    });
    expect(stdout.trim().split('\n')).toEqual([
      'arguments: -',
      'appendonly yes',
      'appendfsync everysec',
      'maxmemory-policy noeviction',
      `requirepass "${password}"`,
    ]);
  });
});

describe('documentation', () => {
  test('docs/deployment.md shows overrides with valid keys', async () => {
    const blocks = [...(await read('docs/deployment.md')).matchAll(/```yaml\n(services:.*?)```/gs)];
    expect(blocks.length).toBeGreaterThan(0);
    for (const [, text = ''] of blocks) {
      const variables = { CQBATCH_REDIS_PASSWORD: 'x', CQBATCH_BASE_URL: 'https://api.example.com' };
      overrideSchema.parse(readComposeText(text, variables));
    }
  });

  test.each(['docs/deployment.md', 'docker-compose.yml'])(
    '%s shows commands that the program understands',
    async (path) => {
      const shown = [...(await read(path)).matchAll(/\bcqbatch ([a-z]+)((?: +[\w./:-]+)*) *(?=$|[`#])/gm)];
      expect(shown.map(([, name]) => name)).toContain('submit');
      for (const [, name = '', args = ''] of shown) {
        const parsed = (await everyCommand()).get(name)?.parseOptions(args.split(' ').filter(Boolean));
        expect(parsed?.unknown, name).toEqual([]);
      }
    },
  );
});

/** A folder with a shell script of this name, in place of a program. */
async function commandNamed(name: string, script: string): Promise<string> {
  const folder = await temporaryFolder();
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return folder;
}
