import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { steadyNow } from '../../../src/base/async/clock.ts';
import { noHistory } from '../../../src/domain/attempts.ts';
import type { ApiAnswer } from '../../../src/engine/api/client.ts';
import { defineOperation, type Operation } from '../../../src/engine/operation/operation.ts';
import { requestDigest, requestOfValues } from '../../../src/engine/operation/shown-request.ts';
import type { RowVerdict } from '../../../src/engine/queue/claimed-batch.ts';
import { TrafficMeter } from '../../../src/engine/rate/traffic-meter.ts';
import { CircuitBreaker } from '../../../src/engine/worker/breaker/circuit-breaker.ts';
import { RefusedRows } from '../../../src/engine/worker/refused-rows.ts';
import { RetryQuota } from '../../../src/engine/worker/retry-quota.ts';
import {
  callOf,
  createRowProcessor,
  type RowProcessorOptions,
  type WorkerEvent,
} from '../../../src/engine/worker/row-processor.ts';
import { type Planned, taskOf } from '../queue/tasks.ts';
import { gateOnTimeline } from '../rate/gate-on-timeline.ts';
import { answered, failing, tooMany } from './answers.ts';
import { claimed, task } from './claimed.ts';

const notFound = failing({ class: 'permanent', code: 'NOT_FOUND', status: 404 });

const restored = answered({ body: { evaluation: { evaluation_id: 1 } } });

/** A processor for an API that gives these answers in turn. */
function begin(answers: readonly (ApiAnswer | Error)[], changes: Partial<RowProcessorOptions> = {}) {
  const { gate, set } = gateOnTimeline({ cap: 10 });
  const meter = new TrafficMeter();
  const breaker = new CircuitBreaker({ onChange() {}, onHalt() {} });
  void breaker.assess({ kind: 'answered' });
  const events: WorkerEvent[] = [];
  const onHalt = vi.fn();
  let calls = 0;
  const process = createRowProcessor({
    operations,
    client: {
      async send() {
        expect([gate.active, meter.active]).toEqual([1, 1]);
        const answer = answers[calls++];
        if (answer === undefined) throw new Error('no more answers');
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    gate,
    meter,
    breaker,
    refusedRows: new RefusedRows(),
    quota: new RetryQuota(),
    isGoverned: () => true,
    log: pino({ level: 'silent' }),
    onEvent: (event) => events.push(event),
    onHalt,
    ...changes,
  });
  const { signal } = new AbortController();
  return {
    gate,
    set,
    meter,
    events,
    onHalt,
    calls: () => calls,
    process: (row = task, claim = claimed(), stop = signal): Promise<RowVerdict> => process(row, claim, stop),
  };
}

describe('a row', () => {
  test.each<[ApiAnswer, RowVerdict['kind'], string | undefined]>([
    [notFound, 'finished', 'finished'],
    [failing({ class: 'retry', status: 500 }), 'retry', 'retrying'],
    [tooMany(1_000), 'throttled', 'throttled'],
    [failing({ class: 'aborted' }), 'returned', 'returned'],
    [failing({ class: 'halt', status: 401 }), 'returned', undefined],
  ])('with the answer %o is: %s', async (answer, kind, event) => {
    const { gate, meter, events, process, calls } = begin([answer]);
    expect((await process()).kind).toBe(kind);
    expect(events.map(({ type }) => type)).toEqual(event === undefined ? [] : [event]);
    expect([gate.active, meter.active, calls()]).toEqual([0, 0, 1]);
  });

  test('that failed permanently is reported before another row gets its place: a guard may halt the run', async () => {
    const inFlight: number[] = [];
    const { gate, process } = begin([notFound], { onEvent: () => inFlight.push(gate.active) });
    await process();
    expect([inFlight, gate.active]).toEqual([[1], 0]);
  });

  test('gives up its place while the breaker waits for the outcomes of other calls', async () => {
    const told: string[] = [];
    const onEvent = ({ type, row }: WorkerEvent) => told.push(`${row} ${type}, ${gate.active} in flight`);
    const { gate, set, process } = begin([failing({ class: 'retry', status: 500 }), notFound], { onEvent });
    set({ cap: 1 });
    await Promise.all([process(), process({ ...task, row: 2 })]);
    // Only one call may be in flight: the first row has given up its place, and is reported when the second one is answered.
    expect(told).toEqual(['2 finished, 1 in flight', '7 retrying, 0 in flight']);
  });

  test('that fails after the end of an outage, which its call has met, uses no attempt', async () => {
    const breaker = new CircuitBreaker({ onChange() {}, onHalt() {} });
    void breaker.assess({ kind: 'answered' });
    const send = async () => {
      breaker.endedOutages += 1;
      return failing({ class: 'retry', status: 500 });
    };
    const { process, events } = begin([], { breaker, client: { send } });
    expect(await process(task, claimed({ attemptsUsed: 0 }))).toMatchObject({ kind: 'returned' });
    expect(events.map(({ type }) => type)).toEqual(['returned']);
  });

  test('is called once the gate lets it in, and its intent is not written before', async () => {
    const { set, process, calls } = begin([notFound]);
    const intend = vi.fn(async () => true);
    set({ cap: 0 });
    const verdict = process(task, claimed({ intend }));
    await new Promise(setImmediate);
    expect([intend.mock.calls.length, calls()]).toEqual([0, 0]);
    set({ cap: 1 });
    expect((await verdict).kind).toBe('finished');
  });

  test('reports to the gate when its request has left, and when it is made once more', async () => {
    const { gate } = gateOnTimeline({ cap: 10 });
    const sent = vi.spyOn(gate, 'noteSent');
    const send: RowProcessorOptions['client']['send'] = async (_request, options) => {
      options?.onSent?.();
      options?.onSent?.();
      return notFound;
    };
    await begin([], { client: { send }, gate }).process();
    expect(sent.mock.calls).toEqual([[expect.any(Number)], [undefined]]);
  });

  type Gate = ReturnType<typeof begin>['gate'];
  const closing = (gate: Gate) => ({
    async intend() {
      gate.close();
      return true;
    },
  });
  test.each<[string, (gate: Gate) => Parameters<typeof claimed>[0]]>([
    ['the gate turns it away', (gate) => void gate.close()],
    ['its intent is not written', () => ({ intend: async () => false })],
    ['the gate closes after its intent was written', closing],
    ['its batch is wanted back before the moment of its call', () => ({ isWanted: () => false })],
  ])('goes back uncalled, with its history, when %s', async (_when, meet) => {
    const history = { attempts: 2, unprocessed: 1, unclear: false, lastCode: 'UNAVAILABLE' };
    for (const [row, known] of [[task, noHistory] as const, [{ ...task, history }, history] as const]) {
      const { gate, meter, events, process, calls } = begin([]);
      expect(await process(row, claimed(meet(gate)))).toEqual({ kind: 'returned', history: known });
      expect([calls(), gate.active, meter.report().accepted, events]).toEqual([0, 0, 0, []]);
    }
  });

  test('that must not be repeated is not called when an attempt of it may have been carried out', async () => {
    const once = { operations: operations.map((operation) => ({ ...operation, repeatable: false })) };
    const unclear = { ...task, history: { attempts: 1, unprocessed: 0, unclear: true } };
    const lost = { ...task, history: { ...unclear.history, lastCode: 'RESULT_LOST' } };
    const { process, calls, events } = begin([notFound], once);
    expect(await process(unclear)).toMatchObject({ kind: 'finished', result: { code: 'NOT_REPEATED' } });
    expect([calls(), events]).toMatchObject([0, [{ type: 'finished', row: 7 }]]);
    expect(await process(lost)).toMatchObject({
      kind: 'finished',
      result: {
        code: 'RESULT_LOST',
        message: `an earlier attempt may have been carried out, and ${task.operation} must not be repeated`,
        unclear: true,
      },
    });
    expect(calls()).toBe(0);
    expect(await process({ ...unclear, history: { ...unclear.history, unclear: false } })).toMatchObject({
      result: { code: 'NOT_FOUND' },
    });
  });

  test('has its intent written once, however long it then waits for its call', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { gate, set, process, calls } = begin([notFound]);
    const intend = vi.fn(async () => {
      set({ cap: 0 });
      gate.setCommonRest(steadyNow() + 100);
      return true;
    });
    const verdict = process(task, claimed({ intend }));
    await vi.advanceTimersByTimeAsync(99);
    expect(intend).toHaveBeenCalledTimes(1);
    expect([calls(), gate.active]).toEqual([0, 0]);
    set({ cap: 1 });
    await vi.runAllTimersAsync();
    expect((await verdict).kind).toBe('finished');
    expect(intend).toHaveBeenCalledTimes(1);
  });
});

describe('a call', () => {
  test('is counted by the answer of the API', async () => {
    const { meter, process } = begin([notFound, tooMany(), failing({ code: 'TOTAL_TIMEOUT' })]);
    for (let row = 1; row <= 3; row += 1) await process({ ...task, row });
    expect(meter.report()).toMatchObject({ accepted: 1, rejected: 1, active: 0 });
  });

  test('by a client that throws counts and is unclear: it may have been sent', async () => {
    const { gate, meter, process, calls } = begin([new Error('defect'), notFound]);
    const last = { lastCode: 'CLIENT_FAILED', lastMessage: 'defect' };
    const attempts = { attempts: 1, unprocessed: 0, unclear: true, ...last };
    const retried = process();
    await expect.poll(() => [calls(), gate.active]).toEqual([1, 0]);
    // Another row is answered, so that the client is not to blame for all rows.
    await process({ ...task, row: 8 });
    expect(await retried).toMatchObject({ kind: 'retry', history: attempts });
    expect([gate.active, meter.active, meter.report().accepted]).toEqual([0, 0, 1]);
  });

  test('by a client that rejects when it is stopped was interrupted', async () => {
    const stopped = new AbortController();
    stopped.abort();
    const { process } = begin([new Error('aborted')]);
    expect(await process(task, claimed(), stopped.signal)).toMatchObject({
      kind: 'returned',
      history: { attempts: 1, unclear: true, lastCode: 'INTERRUPTED' },
    });
  });

  test('that meets a 503 is an attempt in doubt until 503s are known to depend on the rate', async () => {
    const answer = failing({ code: 'UNAVAILABLE', status: 503, unclear: true });
    const { process, meter, events } = begin([answer, answer]);
    meter.refuses503 = true;
    const history = { attempts: 1, unprocessed: 1, unclear: false };
    expect(await process()).toMatchObject({ kind: 'throttled', waitMs: 0, history });
    expect(events).toEqual([{ type: 'throttled', run: 'r', row: 7, waitMs: 0 }]);
  });

  const known = ['restore-evaluation'];
  const elsewhere = failing({ class: 'halt-early', code: 'NOT_FOUND', status: 404 });
  const forbidden = failing({ class: 'halt-early', code: 'PERMISSION_DENIED', status: 403 });
  const policy = { attempts: 5, backoffMs: 0, proven: known };
  test.each([
    ['in doubt halts the worker', elsewhere, {}, {}, 1],
    ['known to the journal is not in doubt', elsewhere, { proven: known }, {}, 0],
    ['known to the run of the row is not in doubt', elsewhere, {}, { policy }, 0],
    ['known proves no permission of the token', forbidden, { proven: known }, { policy }, 1],
  ])('to an address that is %s', async (_title, answer, changes, claim, halts) => {
    const { process, onHalt } = begin([answer], changes);
    const verdict = await process(task, claimed(claim));
    expect([verdict.kind, onHalt.mock.calls.length]).toEqual([halts === 0 ? 'finished' : 'returned', halts]);
  });
});

describe('the request of a row', () => {
  const values = { evaluation_id: '1', user_id: 'u' };
  const operation = 'restore-evaluation';
  const shown = requestDigest(requestOfValues(operations, { operation, values }));
  /** A row as its batch has it. */
  const fed = (changes: Planned = {}) => taskOf(7, { operation, values, requestDigest: shown, ...changes });

  test('is made of its values by the loaded operation, wherever it is called', () => {
    expect(callOf(fed(), 'r', operations)).toMatchObject({
      run: 'r',
      row: 7,
      operation,
      subject: '1',
      path: expect.stringContaining('restoreevaluation'),
      body: '{"evaluation_id":1,"user_id":"u"}',
    });
  });

  test.each<[what: string, changes: Planned]>([
    ['other values', { values: { ...values, evaluation_id: '2' } }],
    ['a digest of nothing', { requestDigest: '' }],
  ])('is refused when it is not the one that was shown: %s', (_what, changes) => {
    expect(callOf(fed(changes), 'r', operations)).toMatchObject({
      code: 'REQUEST_CHANGED',
      message: expect.stringContaining('restore-evaluation makes another request of row 7'),
    });
  });

  test('is refused for an unknown operation', () => {
    expect(callOf(fed({ operation: 'unheard-of' }), 'r', operations)).toMatchObject({
      code: 'UNKNOWN_OPERATION',
    });
  });

  test('is refused when the operation throws', () => {
    const failing = defineOperation({
      name: 'fail',
      thing: 'entry',
      summary: 'Fails.',
      fields: { id: { type: 'identifier', required: true } },
      subject: 'id',
      request: () => {
        throw new Error('why');
      },
      interpret: (value) => ({ ok: true, value }),
      columns: {},
      repeatable: true,
    });
    expect(callOf(fed({ operation: 'fail' }), 'r', [failing])).toMatchObject({ code: 'OPERATION_FAILED' });
  });
});

test('a retry for which the quota has nothing left is handed back without a call, at no cost', async () => {
  const quota = { take: () => 700, noteSuccess() {} };
  const { process, calls } = begin([], { quota });
  const history = { attempts: 1, unprocessed: 0, unclear: true };
  const verdict = await process({ ...task, history }, claimed({ attemptsUsed: 1 }));
  expect(verdict).toEqual({ kind: 'returned', history, delayMs: 700 });
  expect(calls()).toBe(0);
});

describe('a refusal that would mean "done" before any row of the operation has succeeded', () => {
  const [restore] = operations;
  const deletion = {
    ...restore,
    meansDone: ({ code }: { code: string }) => code === 'NOT_FOUND',
  } as Operation;

  test('waits for a success, and then succeeds', async () => {
    const { breaker, process } = unproven([notFound, restored]);
    const first = process({ ...task, row: 1 });
    await expect.poll(() => breaker.prefetchLimit(1, 1)).toBe(2);
    const second = await process({ ...task, row: 2 });
    expect(second).toMatchObject({ kind: 'finished', result: { row: 2, code: 'OK' } });
    expect(await first).toMatchObject({ kind: 'finished', result: { row: 1, code: 'ALREADY_APPLIED' } });
    breaker.close();
  });

  test('counts at once where an earlier run has succeeded', async () => {
    const { process } = unproven([notFound]);
    const known = claimed({ policy: { attempts: 5, backoffMs: 1_000, succeededBefore: [task.operation] } });
    expect(await process(task, known)).toMatchObject({ result: { code: 'ALREADY_APPLIED', attempts: 1 } });
  });

  test('goes back uncharged when the worker ends before', async () => {
    const { breaker, process } = unproven([notFound]);
    const verdict = process(task);
    await expect.poll(() => breaker.prefetchLimit(1, 1)).toBe(2);
    breaker.close();
    expect(await verdict).toMatchObject({
      kind: 'returned',
      history: { attempts: 1, unprocessed: 1, unclear: false },
    });
  });

  function unproven(answers: readonly ApiAnswer[]) {
    const breaker = new CircuitBreaker({ onChange() {}, onHalt() {} });
    for (let row = 0; row < 10; row += 1) breaker.begin();
    return { breaker, ...begin(answers, { breaker, operations: [deletion] }) };
  }
});
