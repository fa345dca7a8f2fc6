import { pino } from 'pino';
import type { Priority } from '../../src/domain/terms.ts';
import { requestDigest } from '../../src/engine/operation/shown-request.ts';
import { openRowQueue } from '../../src/engine/queue/row-queue.ts';
import type { CallableRow } from '../../src/engine/rows/row.ts';
import type { AnswerFile } from '../../src/engine/run/record/answer-file.ts';
import type { OpenRun } from '../../src/engine/run/record/open-run.ts';
import type { RunRecord } from '../../src/engine/run/record/record.ts';
import { RecordKeeper } from '../../src/engine/run/record/record-keeper.ts';
import type { RunEnding } from '../../src/engine/run/record/run-outcome.ts';
import { runPolicy } from '../../src/engine/run/record/run-policy.ts';
import type { RunStore } from '../../src/engine/run/record/store.ts';
import { type ControlWatch, watchControls } from '../../src/engine/run/work/control.ts';
import { RunSession } from '../../src/engine/run/work/session.ts';
import { Stages } from '../../src/engine/run/work/stages.ts';
import { rowsInMemory } from '../engine/rows/rows-in-memory.ts';
import { plannedRecord } from '../engine/run/planned-record.ts';
import { subjectOf } from './referee.ts';
import type { Scenario } from './scenario.ts';
import { operationIn } from './simulated-api.ts';
import { openSimulatedJournal } from './simulated-journal.ts';
import type { Stage } from './stage.ts';
import type { SimulatedProcess } from './world.ts';

const silent = pino({ level: 'silent' });
export const runId = plannedRecord.id;

/** A run on disk, besides its journal. */
export interface RunFolder {
  record: RunRecord;
  command: ControlWatch['current'];
  priority: Priority;
  /** Whether a user resumes a run that a guard has halted. */
  isAccepted: boolean;
}

export interface CoordinatorProcess {
  readonly process: SimulatedProcess;
  /** Like SIGTERM. */
  stop(): void;
}

/** The run after planning. */
export function newRunFolder({ rows, subjects, options, maxRows, priority }: Scenario): RunFolder {
  const record: RunRecord = {
    ...plannedRecord,
    state: 'running',
    states: [{ state: 'running', at: '2026-01-01T00:00:00.000Z' }],
    plan: { ...plannedRecord.plan, rows, callable: rows, conflicts: rows - subjects },
    options: { baseUrl: 'http://api.test/', concurrency: 4, timeoutMs: 30_000, ...options },
    ...(maxRows !== undefined && { budget: { maxRows } }),
  };
  return { record, command: 'unpause', priority, isAccepted: false };
}

/**
 * A process that works on a run until it ends: the program's own code, from the journal up to its stages.
 *
 * @param handOver whether it leaves the run to another process when it is stopped
 */
export function beginCoordinator(
  stage: Stage,
  {
    name,
    folder,
    handOver,
  }: { readonly name: string; readonly folder: RunFolder; readonly handOver: boolean },
  onEnd: (end: RunEnding | Error) => void,
): CoordinatorProcess {
  const { world, scenario } = stage;
  const never = new AbortController().signal;
  const interrupt = new AbortController();
  const process = world.begin(name, () => {
    void work().then(end, end);
  });

  function end(ended: RunEnding | Error): void {
    world.tell(`${name} ends: ${ended instanceof Error ? ended.message : ended.state}`);
    world.kill(process);
    onEnd(ended);
  }

  async function work(): Promise<RunEnding> {
    const datastore = stage.datastore.openIn(process);
    const rows = openRowQueue(datastore, stage);
    const journal = openSimulatedJournal(world, process, stage.journal, scenario.disk);
    const store = {
      operations: [operationIn(scenario)],
      folder: () => 'run',
      save: async (record: RunRecord) => {
        if (!process.isDead) folder.record = record;
      },
    } as unknown as RunStore;
    const answers = { write: async () => {}, close: async () => {} } as unknown as AnswerFile;
    const { record } = folder;
    const policy = runPolicy(record, journal, []);
    const run: OpenRun = { store, record, datastore, rows, journal, policy, answers, lost: never };
    const planned = rowsInMemory(rowsOf(stage));
    const keeper = new RecordKeeper(store, record);
    const read = async () => [{ kind: 'command' as const, command: folder.command, at: '' }];
    const controls = watchControls([{ read }]);
    try {
      if (folder.isAccepted) await journal.append([{ type: 'accepted' }]);
      folder.isAccepted = false;
      const stages = await Stages.begin({
        run,
        rows: planned,
        keeper,
        budget: record.budget,
        interrupt: interrupt.signal,
        onError() {},
      });
      await stages.keepBudget();
      return await new RunSession(run, {
        rows: planned,
        client: undefined,
        log: silent,
        interrupt: interrupt.signal,
        handOver,
        deadline: never,
        workers: () => scenario.workers,
        rate: () => undefined,
        priority: () => folder.priority,
        stages: {
          tasks: () => stages.tasks(),
          next: async (signal) => {
            const ended = await stages.next(signal);
            if (ended === undefined) stage.referee.bind('canary', undefined);
            return ended;
          },
        },
        controls,
        rateInForce: async () => {},
        join: () => {
          throw new TypeError('A coordinator alone calls nothing.');
        },
        onEvent() {},
        onError() {},
        onPace() {},
      }).untilEnd();
    } finally {
      controls.close();
      keeper.close();
      await journal.close();
      await rows.close();
    }
  }
  return { process, stop: () => world.later(0, () => interrupt.abort(), { owner: process }) };
}

function rowsOf({ scenario }: Stage): readonly CallableRow[] {
  return Array.from({ length: scenario.rows }, (_, index): CallableRow => {
    const row = index + 1;
    const subject = subjectOf(scenario, row);
    const operation = operationIn(scenario);
    const values = { soundboard_id: String(subject), title: String(row) };
    return {
      kind: 'callable',
      row,
      line: row + 1,
      operation,
      subject: String(subject),
      requestDigest: requestDigest(operation.request(values)),
      values,
    };
  });
}
