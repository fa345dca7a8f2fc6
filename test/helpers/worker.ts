import { type CommandOptions, type Finished, startCqbatch } from './cqbatch.ts';
import { type Observed, observe } from './observed.ts';

/** A line of a worker's structured log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** A `cqbatch worker` that has started. */
export interface WorkerProcess extends Observed {
  /** Its log so far, with this message if given. */
  logged(message?: string): readonly LogLine[];
  /** Asks its health server. */
  health(path: '/healthz' | '/readyz'): Promise<{ readonly status: number; readonly body: unknown }>;
  /** The text of its page for Prometheus. */
  metrics(): Promise<string>;
  /** Asks it to stop properly, and waits for its end. */
  stop(): Promise<Finished>;
}

/** Starts `cqbatch worker` with a health server, and waits until it reports that it has started. */
export async function startWorker(args: readonly string[], options: CommandOptions): Promise<WorkerProcess> {
  const observed = observe(startCqbatch(['worker', '--health-port', '0', ...args], options));
  const logged = (message?: string): readonly LogLine[] =>
    observed.stderr
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
      .filter(({ msg }) => message === undefined || msg === message);
  await observed.says('"worker started"}\n');
  const [started] = logged('worker started');
  const port = Number(started?.['health_port']);
  return {
    pid: observed.pid,
    get stdout() {
      return observed.stdout;
    },
    get stderr() {
      return observed.stderr;
    },
    end: observed.end,
    says: observed.says,
    kill: observed.kill,
    logged,
    async health(path) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: answer.status, body: await answer.json() };
    },
    metrics: async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
    stop() {
      observed.kill('SIGTERM');
      return observed.end;
    },
  };
}
