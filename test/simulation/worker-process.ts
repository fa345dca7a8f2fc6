import { pino } from 'pino';
import { openRowQueue } from '../../src/engine/queue/row-queue.ts';
import { CircuitBreaker } from '../../src/engine/worker/breaker/circuit-breaker.ts';
import { RefusedRows } from '../../src/engine/worker/refused-rows.ts';
import { RetryQuota } from '../../src/engine/worker/retry-quota.ts';
import { callOf, createRowProcessor } from '../../src/engine/worker/row-processor.ts';
import { WatchedWorker } from '../../src/engine/worker/watched-worker.ts';
import { throwingOperation } from './simulated-api.ts';
import type { Stage } from './stage.ts';
import type { SimulatedProcess } from './world.ts';

const silent = pino({ level: 'silent' });
/** How long calls in flight may take after a worker is told to stop. */
const stopMs = 10_000;

/** A process that calls rows of every run: the program's own worker, whose calls do not wait for turns. */
export interface WorkerProcess {
  readonly process: SimulatedProcess;
  /** Like SIGTERM. */
  stop(): void;
}

/** @param onEnd called when it has ended by itself or was stopped */
export function beginWorker(stage: Stage, name: string, onEnd: () => void): WorkerProcess {
  const { world, scenario, datastore, api } = stage;
  let stop = (): void => {};
  const process = world.begin(name, () => {
    const opened = datastore.openIn(process);
    const rows = openRowQueue(opened, stage);
    let isOpen = true;

    const onError = ({ message }: Error): void => world.tell(`${name}: ${message}`);
    const breaker = new CircuitBreaker({
      onChange: () => {
        worker.concurrency = breaker.prefetchLimit(scenario.concurrency, scenario.concurrency);
      },
      onHalt({ because, rowToSee }) {
        const isEarly = because === 'unproven' && rowToSee !== undefined;
        stage.sightings.note('a worker gives up before it has read a success', isEarly);
        stop();
      },
    });
    const gate = {
      reserve: async () => isOpen,
      enter: async () => (isOpen ? 0 : undefined),
      release() {},
      noteSent() {},
      leave() {},
    };
    const random = world.random.fork();
    const mayThrow = (probability: number, what: 'operation' | 'worker'): void => {
      if (!random.chance(probability)) return;
      stage.sightings.note(`the code of the ${what} throws`);
      world.tell(`${name}: the ${what} throws`);
      throw new Error(`the ${what} throws`);
    };
    const operation = throwingOperation(scenario, () => mayThrow(scenario.code.operation, 'operation'));
    const worker = new WatchedWorker(opened, rows, {
      concurrency: scenario.concurrency,
      prepare: (task, run) => callOf(task, run, [operation]),
      process: createRowProcessor({
        operations: [operation],
        client: api.clientOf(process),
        gate,
        meter: { noteSent: () => ({}) as never, noteEnd() {}, refuses503: false },
        breaker,
        refusedRows: new RefusedRows(),
        quota: new RetryQuota(),
        isGoverned: () => false,
        log: silent,
        onEvent({ type, row }) {
          world.tell(`${name}: row ${row} ${type}`);
          mayThrow(scenario.code.worker, 'worker');
        },
        onHalt: () => stop(),
      }),
      log: silent,
      isResting: () => false,
      onRefused({ code, message }) {
        if (code === 'DEFECT' && message.endsWith('the worker throws')) stop();
        else stage.fail(`${name} refuses a batch: ${message}`);
      },
      onStuck: () => stage.fail(`${name} is stuck`),
      onError,
    });
    let isStopping = false;
    stop = () => {
      if (isStopping) return;
      isStopping = true;
      isOpen = false;
      world.tell(`${name} stops`);
      worker.pause();
      breaker.close();
      void worker.stop(stopMs).then(() => {
        world.kill(process);
        onEnd();
      });
    };
  });
  return { process, stop: () => world.later(0, () => stop(), { owner: process }) };
}
