// @ts-check
/**
 * Faults that a change could bring into the core. The tests must find each of them: `npm run mutants` puts them in one at a time.
 *
 * @typedef {{ readonly what: string, readonly file: string, readonly find: string, readonly replace: string }} Mutant
 */

/** @type {readonly Mutant[]} */
export const mutants = [
  {
    what: 'a batch is taken over without marking its open intents',
    file: 'src/engine/queue/ledger/ledger.ts',
    find: '    this.#claim = claim;\n    this.doubtIntended();',
    replace: '    this.#claim = claim;',
  },
  {
    what: 'a worker does not read what others wrote into its ledger',
    file: 'src/engine/queue/ledger/ledger-writer.ts',
    find: 'length !== this.#length + 1) await this.#readTo(length);\n    else if (length !== undefined) ',
    replace: 'length < 0) await this.#readTo(length);\n    else if (length !== undefined) ',
  },
  {
    what: 'a worker calls after a slow write, when its lock may have expired',
    file: 'src/engine/queue/ledger/ledger-writer.ts',
    find: "sentAt > lockMs / 2 ? 'outdated' : 'current'",
    replace: "sentAt > lockMs * 1000 ? 'outdated' : 'current'",
  },
  {
    what: 'a lock counts as held however long it was not renewed',
    file: 'src/engine/queue/lock-renewal.ts',
    find: 'locks.has(lock) && steadyNow() - lock.renewedAt < lockMs',
    replace: 'locks.has(lock)',
  },
  {
    what: 'a batch is called before its former ledger is read',
    file: 'src/engine/queue/claimed-batch.ts',
    find: 'if (this.#options.claim > 1) await this.#writer.begin();',
    replace: 'if (this.#options.claim > 1) void this.#writer.begin();',
  },
  {
    what: 'a row of a dead process counts one call too few',
    file: 'src/domain/attempts.ts',
    find: '{ ...rest, attempts: attempts + 1, unclear: true,',
    replace: '{ ...rest, attempts, unclear: true,',
  },
  {
    what: 'a second result of a row in one write counts, too',
    file: 'src/engine/journal/group-writer.ts',
    find: 'return this.#state.isFinished(row) || rows.has(row);',
    replace: 'return this.#state.isFinished(row);',
  },
  {
    what: 'the journal is not synced',
    file: 'src/engine/journal/appendable-journal.ts',
    find: '    await handle.datasync();\n',
    replace: '',
  },
  {
    what: 'rows are fed before the journal says so',
    file: 'src/engine/run/feed/coordinator.ts',
    find: 'await this.#run.journal.append(batches.flatMap((batch) => fedEntries(batch, epoch)));',
    replace: 'void this.#run.journal.append(batches.flatMap((batch) => fedEntries(batch, epoch)));',
  },
  {
    what: 'a failed write of results does not end the run',
    file: 'src/engine/run/feed/coordinator.ts',
    find: '      this.#fail(error);\n      throw error;',
    replace: '      throw error;',
  },
  {
    what: 'the mark of an earlier attempt is forgotten when the row fails',
    file: 'src/engine/worker/judge.ts',
    find: "unclear: failure.unclear || (failure.class === 'permanent' ? unclear : past.unclear),",
    replace: 'unclear: failure.unclear,',
  },
  {
    what: 'the mark of an earlier attempt is forgotten when the row is tried again',
    file: 'src/engine/worker/attempt-history.ts',
    find: 'unclear: past.unclear || failure.unclear,',
    replace: 'unclear: failure.unclear,',
  },
  {
    what: 'a row that must not be repeated is repeated',
    file: 'src/engine/worker/judge.ts',
    find: 'operation.repeatable || !failure.unclear;',
    replace: 'operation.repeatable || failure.unclear;',
  },
  {
    what: 'a row has one attempt more than allowed',
    file: 'src/engine/worker/judge.ts',
    find: 'if (used >= policy.attempts ||',
    replace: 'if (used > policy.attempts ||',
  },
  {
    what: 'a row says that it is called before it has a place',
    file: 'src/engine/worker/row-processor.ts',
    find: 'if (!(await gate.reserve())) return undefined;',
    replace: 'void gate.reserve();',
  },
  {
    what: 'a second result of a row in a ledger counts',
    file: 'src/engine/queue/ledger/ledger.ts',
    find: '    if (state.result !== undefined) return false;\n',
    replace: '',
  },
  {
    what: 'a row is called after its batch was withdrawn',
    file: 'src/engine/worker/row-processor.ts',
    find: 'if (leaveBy === undefined || claim.isWanted()) return leaveBy;',
    replace: 'if (leaveBy === undefined || claim.isWanted !== undefined) return leaveBy;',
  },
  {
    what: 'a 429 counts as a failure of the row',
    file: 'src/engine/api/classify.ts',
    find: 'const isRefusal = status === 429 ||',
    replace: 'const isRefusal = status === 430 ||',
  },
  {
    what: 'a row that is held for another one is freed one result too early',
    file: 'src/engine/run/feed/row-order.ts',
    find: 'if (busy.openRows > 0) return false;',
    replace: 'if (busy.openRows > 1) return false;',
  },
  {
    what: 'a retry calls rows that a later row has overtaken',
    file: 'src/engine/run/plan/retry-run.ts',
    find: 'rows.get(succeeded, 0) > call.row;',
    replace: 'rows.get(succeeded, 0) < call.row;',
  },
  {
    what: 'a message of the API can be a formula in a spreadsheet',
    file: 'src/engine/report/report-columns.ts',
    find: 'this.#guard(textOf(result, member))',
    replace: 'textOf(result, member)',
  },
  {
    what: 'a token in a JSON answer is not masked',
    file: 'src/engine/api/token/token-mask.ts',
    find: 'return mayQuote ? maskedValue(value, text) : value;',
    replace: 'return mayQuote && value === source ? maskedValue(value, text) : value;',
  },
  {
    what: 'what a batch of another epoch says of its rows counts as all that happened',
    file: 'src/engine/run/feed/journal-entries.ts',
    find: 'const isLost = mayHaveUnknownCalls(row, journal, epoch);',
    replace: 'const isLost = mayHaveUnknownCalls(-1, journal, epoch);',
  },
  {
    what: 'a result that comes after a change of the epoch is not marked',
    file: 'src/engine/run/feed/journal-entries.ts',
    find: '(!tellsAll && mayHaveUnknownCalls(row, journal, epoch))',
    replace: '(tellsAll && mayHaveUnknownCalls(row, journal, epoch))',
  },
  {
    what: 'rows that may be lost are fed again while workers may begin calls of them',
    file: 'src/engine/run/feed/feed-epoch.ts',
    find: 'if (!this.#datastore.exclusive) this.#callableUntil',
    replace: 'if (this.#datastore.exclusive) this.#callableUntil',
  },
  {
    what: 'a worker calls rows of another epoch',
    file: 'src/engine/queue/batch-worker.ts',
    find: 'return isOfAnotherEpoch(this.#datastore, epoch);',
    replace: 'return isOfAnotherEpoch(this.#datastore, epoch) && this.#paused;',
  },
  {
    what: 'a run that has paused itself goes on without a person',
    file: 'src/engine/run/work/control.ts',
    find: "return command !== 'unpause' || pausedAt === undefined || isNew || at > pausedAt;",
    replace: 'return true;',
  },
  {
    what: 'a canary that a person has looked at pauses the run again after a kill',
    file: 'src/engine/run/work/stages.ts',
    find: 'keeper.change({ canary: { ...canary, wentOn: true } });',
    replace: 'keeper.change({ canary });',
  },
  {
    what: 'a halted run that is handed to a daemon counts the failures from before',
    file: 'src/engine/run/work/record-part.ts',
    find: 'if (!goesOnAfterHalt(record)) return record;',
    replace: "if (!goesOnAfterHalt(record) || record.state === 'submitted') return record;",
  },
  {
    what: 'a stopped run is handed to a daemon although it has changed meanwhile',
    file: 'src/engine/run/work/resubmit.ts',
    find: "if (!isAsSeen) return { result: 'changed', record };",
    replace: '',
  },
];
