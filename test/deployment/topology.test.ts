import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { cqbatchProcess, startCqbatch } from '../helpers/cqbatch.ts';
import { freePort } from '../helpers/free-port.ts';
import { type Observed, observe } from '../helpers/observed.ts';
import { describeWithRedis, redisProgram } from '../helpers/redis-server.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { type ComposeFile, type ComposeService, readComposeFile } from './compose-file.ts';

const run = promisify(execFile);
const examples = fileURLToPath(new URL('../../examples', import.meta.url));

/** A service that was started without Docker. */
interface StartedService {
  readonly process: Observed;
  /** Runs its health check as Compose does. */
  healthy(): Promise<boolean>;
}

/** This machine in place of Docker: containers become processes, and their addresses ports on loopback. */
class Host {
  readonly folder: string;
  readonly services = readComposeFile().services;
  /** Programs that only the services can find. */
  readonly #bin: string;
  /** Names in docker-compose.yml, and what they are on this machine. */
  readonly #places: Map<string, string>;
  readonly #redisPort: number;

  private constructor(folder: string, bin: string, redisPort: number, sandboxPort: number) {
    this.folder = folder;
    this.#bin = bin;
    this.#redisPort = redisPort;
    this.#places = new Map([
      ['redis:6379', `127.0.0.1:${redisPort}`],
      ['sandbox:8791', `127.0.0.1:${sandboxPort}`],
      ['127.0.0.1:8791', `127.0.0.1:${sandboxPort}`],
      ['0.0.0.0', '127.0.0.1'],
      ['8791', String(sandboxPort)],
      ['/var/lib/cqbatch', join(folder, 'state')],
      ['/manifests', examples],
    ]);
  }

  static async open(): Promise<Host> {
    const folder = await temporaryFolder();
    const bin = join(folder, 'bin');
    const server = redisProgram ?? '';
    const redisPort = await freePort();
    for (const name of ['bin', 'data', 'state']) await mkdir(join(folder, name));
    const script = (command: string): string => `#!/bin/sh\nPATH=\${PATH#*:}\nexec ${command} "$@"\n`;
    await writeFile(join(bin, 'redis-server'), script(server));
    await writeFile(join(bin, 'redis-cli'), script(`${server.replace('server', 'cli')} -p ${redisPort}`));
    for (const name of await readdir(bin)) await chmod(join(bin, name), 0o755);
    return new Host(folder, bin, redisPort, await freePort());
  }

  get stateDir(): string {
    return join(this.folder, 'state');
  }

  /** Starts a service with the command and the environment that Compose gives it. */
  async start(name: keyof ComposeFile['services']): Promise<StartedService> {
    const service = this.services[name];
    const healthPort = String(await freePort());
    const here = (text: string): string => this.#moved(text === '8790' ? healthPort : text);
    const env = this.environmentOf(service);
    const command = service.command.map(here);
    const child =
      name === 'redis' ? this.#startRedis(command, env) : startCqbatch(command, { cwd: this.folder, env });
    const probe = service.healthcheck.test.map((text) => here(text.replace(':8790/', `:${healthPort}/`)));
    return { process: observe(child), healthy: () => this.#probe(probe, env) };
  }

  /** `docker compose exec coordinator cqbatch …` */
  exec(...args: string[]) {
    const env = this.environmentOf(this.services.coordinator);
    return cqbatchProcess(
      args.map((arg) => this.#moved(arg)),
      { cwd: this.folder, env },
    );
  }

  environmentOf({ environment }: ComposeService): Record<string, string> {
    return Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, this.#moved(text)]));
  }

  #moved(text: string): string {
    let moved = text;
    for (const [there, here] of this.#places) moved = moved.replace(there, here);
    return moved;
  }

  /** Its port and folder are those of the container; here they must be given. */
  #startRedis([program = '', ...args]: readonly string[], env: Record<string, string>): ChildProcess {
    const place = `port ${this.#redisPort}\nbind 127.0.0.1\ndir ${join(this.folder, 'data')}\nsave ""`;
    const child = spawn(
      program,
      args.map((arg) => arg.replace('\nEND', `\n${place}\nEND`)),
      { cwd: this.folder, env: { ...env, PATH: this.#path }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    onTestFinished(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    return child;
  }

  async #probe([form, ...command]: readonly string[], env: Record<string, string>): Promise<boolean> {
    const [program = '', ...args] = form === 'CMD-SHELL' ? ['/bin/sh', '-c', ...command] : command;
    return run(program, args, { env: { ...env, PATH: this.#path } }).then(
      () => true,
      () => false,
    );
  }

  get #path(): string {
    return [this.#bin, process.env['PATH']].join(delimiter);
  }
}

async function untilHealthy({ process, healthy }: StartedService): Promise<void> {
  const ended = process.end.then(({ code, stderr }) =>
    Promise.reject(new Error(`ended (${code}): ${stderr}`)),
  );
  ended.catch(() => {});
  await Promise.race([expect.poll(healthy).toBeTruthy(), ended]);
}

describeWithRedis('the services of docker-compose.yml, as processes', () => {
  test('take a submitted run to its end, are healthy, and stop properly', async () => {
    const host = await Host.open();
    const redis = await host.start('redis');
    // Workers depend on a healthy Redis.
    await untilHealthy(redis);
    const programs = await Promise.all(
      (['sandbox', 'coordinator', 'worker', 'worker'] as const).map((name) => host.start(name)),
    );
    await Promise.all(programs.map(untilHealthy));

    // docs/deployment.md
    const submitted = await host.exec('submit', '/manifests/mixed.csv', '--yes', '--allow-insecure-http');
    expect(submitted).toMatchObject({ code: 0 });
    const id = submitted.stdout.trim();
    const watched = await host.exec('status', '--watch');
    expect(watched.stdout).toContain(`Run ${id} completed`);
    const listed = await host.exec('list', '--json');
    const { runs } = JSON.parse(listed.stdout) as {
      runs: { run: string; rows: number; done: number; failed: number }[];
    };
    expect(runs).toMatchObject([{ run: id, state: 'completed' }]);
    expect(watched.code).toBe(runs[0]?.failed === 0 ? 0 : 1);
    expect(runs[0]?.done).toBe(runs[0]?.rows);
    const report = await readCsv(join(host.stateDir, 'runs', id), 'report.csv');
    expect(report).toHaveLength(runs[0]?.rows ?? -1);
    expect(report.filter((row) => row['_outcome'] === 'not_attempted')).toEqual([]);
    const [sandbox, coordinator, ...workers] = programs;

    expect(await Promise.all(programs.map(({ healthy }) => healthy()))).toEqual([true, true, true, true]);
    const stopped: Record<string, number | null> = {};
    const order = { coordinator, worker: workers[0], 'other worker': workers[1], sandbox, redis };
    for (const [name, service] of Object.entries(order)) {
      service?.process.kill('SIGTERM');
      stopped[name] = (await service?.process.end)?.code ?? null;
    }
    expect(stopped).toEqual({ coordinator: 0, worker: 0, 'other worker': 0, sandbox: 0, redis: 0 });
    for (const { process } of workers) expect(process.stderr).toContain('"msg":"rows"');
    expect(coordinator?.process.stderr).not.toContain('"msg":"rows"');
  });
});
