import { withScope } from '../../src/base/async/scope.ts';
import { silentLog } from '../../src/base/log.ts';
import type { Priority } from '../../src/domain/terms.ts';
import { requestDigest } from '../../src/engine/operation/shown-request.ts';
import { openRowQueue } from '../../src/engine/queue/row-queue.ts';
import type { CallableRow } from '../../src/engine/rows/row.ts';
import type { AnswerFile } from '../../src/engine/run/record/answer-file.ts';
import type { RunEnding } from '../../src/engine/run/record/ending.ts';
import type { OpenRun } from '../../src/engine/run/record/open-run.ts';
import type { RunRecord } from '../../src/engine/run/record/record.ts';
import { runPolicy } from '../../src/engine/run/record/run-policy.ts';
import type { RunStore } from '../../src/engine/run/record/store.ts';
import { type Command, openControlsIn } from '../../src/engine/run/work/control.ts';
import { openOrder } from '../../src/engine/run/work/execute-run.ts';
import type { ExecuteRunOptions, OpenPart } from '../../src/engine/run/work/run-in-progress.ts';
import { RunLoop } from '../../src/engine/run/work/run-loop.ts';
import { openStages } from '../../src/engine/run/work/stages.ts';
import { rowsInMemory } from '../engine/rows/rows-in-memory.ts';
import { plannedRecord } from '../engine/run/planned-record.ts';
import { subjectOf } from './referee.ts';
import type { Scenario } from './scenario.ts';
import { operationIn } from './simulated-api.ts';
import { openSimulatedJournal } from './simulated-journal.ts';
import type { Stage } from './stage.ts';
import type { SimulatedProcess } from './world.ts';

export const runId = plannedRecord.id;

/** A run on disk, besides its journal. */
export interface RunFolder {
  record: RunRecord;
  command: Command['command'];
  /** When the user gave the command, in ISO 8601 UTC; empty for none. */
  commandAt: string;
  priority: Priority;
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
  return { record, command: 'unpause', commandAt: '', priority };
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
    const options: ExecuteRunOptions = {
      store,
      record,
      datastore,
      client: undefined,
      log: silentLog,
      interrupt: interrupt.signal,
      handOver,
      version: 'simulated',
      budget: record.budget,
    };
    const openCommands = openControlsIn([
      {
        readControls: async () => [
          { kind: 'command', command: folder.command, at: folder.commandAt },
          { kind: 'priority', priority: folder.priority, at: '' },
        ],
      },
    ]);
    try {
      return await withScope(async (defer) => {
        const parts = [openWorkers(stage), openCommands, openOrder, openToldStages(stage, folder)];
        const loop = new RunLoop(run, rowsInMemory(rowsOf(stage)), options, parts);
        return (await loop.untilReported(defer)).end;
      });
    } finally {
      await journal.close();
      await rows.close();
    }
  }
  return { process, stop: () => world.later(0, () => interrupt.abort(), { owner: process }) };
}

/** The heartbeat would see the workers. */
function openWorkers({ scenario }: Stage): OpenPart {
  return ({ progress }) => {
    progress.seeWorkers(scenario.workers);
    return {};
  };
}

/** The stages tell the referee when the canary bounds the calls no longer. When the run pauses, the user looks at the canary. */
function openToldStages({ world, referee, sightings }: Stage, folder: RunFolder): OpenPart {
  const unpause = (): void => {
    if (folder.command === 'cancel') return;
    world.tell('the user has looked at the canary');
    folder.command = 'unpause';
    folder.commandAt = new Date().toISOString();
  };
  return async (inProgress, defer) => {
    const stages = await openStages(inProgress, defer);
    return {
      seeEvent(event) {
        stages.seeEvent?.(event);
        const isUnpaused = event.type === 'paused' && !event.paused;
        if (isUnpaused && inProgress.keeper.record.canary?.wentOn) referee.bind('canary', undefined);
      },
      onStop: (phase, stop) => stages.onStop?.(phase, stop) ?? (() => {}),
      selection: () => stages.selection?.(),
      async nextStage(signal) {
        const end = await stages.nextStage?.(signal);
        if (end === undefined) referee.bind('canary', undefined);
        if (end?.state === 'paused') {
          sightings.note('a run pauses after its canary');
          world.later(world.random.between(10, 30_000), unpause, { owner: null });
        }
        return end;
      },
    };
  };
}

function rowsOf({ scenario }: Stage): readonly CallableRow[] {
  const operation = operationIn(scenario);
  return Array.from({ length: scenario.rows }, (_, index): CallableRow => {
    const row = index + 1;
    const subject = subjectOf(scenario, row);
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
