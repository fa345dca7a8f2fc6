import { type CommandGroupSpec, type CommandSpec, runArgument } from './command-spec.ts';
import * as groups from './option-groups.ts';
import { runCommands, watchCommandSpec } from './run-commands.ts';
import { scheduleCommands } from './schedule-commands.ts';

const statusCommandSpec: CommandSpec = {
  name: 'status',
  description: 'Shows the progress of a run, or of all runs in progress',
  arguments: [
    [
      '[run]',
      'id of a run, or a part that no other id has; default: all runs in progress, else the newest run',
    ],
  ],
  options: { Status: ['watch'], ...groups.sharedDatastoreGroup },
  load: async () => (await import('./commands/status.ts')).status,
};

const showCommandSpec: CommandSpec = {
  name: 'show',
  description: 'Shows what happened to a run: when, by whom, and why',
  arguments: [runArgument()],
  options: { Show: ['row'] },
  examples: [
    ['cqbatch show', 'the newest run'],
    ['cqbatch show jsur --row 1234', 'one row of another run'],
  ],
  load: async () => (await import('./commands/show.ts')).show,
};

const listCommandSpec: CommandSpec = {
  name: 'list',
  description: 'Lists the runs, newest first',
  help: { verbose: 'show all columns, however narrow the screen, and exact times' },
  options: { List: ['verbose'], ...groups.sharedDatastoreGroup },
  load: async () => (await import('./commands/list.ts')).list,
};

const reportCommandSpec: CommandSpec = {
  name: 'report',
  description: 'Rewrites the report of a run, even while in progress',
  arguments: [runArgument()],
  options: { Report: ['format', 'withRetries', 'open', 'delimiter', 'html'] },
  load: async () => (await import('./commands/report.ts')).report,
};

const verifyCommandSpec: CommandSpec = {
  name: 'verify',
  description: 'Makes the report of a run again, and compares both reports',
  details:
    'Reads only the files of the run, sends nothing, and names the first thing that is wrong. Does not show who wrote the files.',
  arguments: [['[run]', 'id of a run, a part of it, or a folder with its files; default: the newest run']],
  options: { Verify: ['against'] },
  examples: [
    ['cqbatch verify', 'the newest run'],
    [
      'cqbatch verify ./evidence --against sha256:9f86d081…',
      'a copied folder, with a digest from a notification',
    ],
  ],
  load: async () => (await import('./commands/verify.ts')).verify,
};

const checkCommandSpec: CommandSpec = {
  name: 'check',
  description: 'Compares entries with what a run wanted',
  details:
    'Reads what the service lists, changes nothing, and says what became of unclear rows. The report of the run does not change.',
  arguments: [runArgument()],
  fromRun: 'as in that run',
  help: {
    rate: 'at most this number of calls, such as 5/s; there is one call at a time in any case',
    attempts: 'number of attempts for a page, or an entry, with transient failures',
  },
  options: {
    API: ['baseUrl', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
    Calls: ['timeout', 'attempts', 'maxOutage'],
    ...groups.operationsGroup,
  },
  examples: [
    ['cqbatch check', 'the newest run'],
    ['cqbatch check jsur --json', 'another run, for a program'],
  ],
  load: async () => (await import('./commands/check.ts')).check,
};

const dashboardCommandSpec: CommandSpec = {
  name: 'dashboard',
  description: 'Serves a live page of runs, workers and schedules',
  options: {
    Dashboard: ['port', 'host', 'publicUrl', 'control', 'start'],
    API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
    ...groups.sharedDatastoreGroup,
    ...groups.operationsGroup,
  },
  unused: {
    lackingOption: {
      control: ['start'],
      start: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp', 'operations'],
    },
  },
  examples: [
    ['cqbatch dashboard', 'the runs of this state folder, on http://127.0.0.1:8788'],
    [
      'cqbatch dashboard --control --start',
      'the whole job on a page: drop a file, look at the plan, start the run',
    ],
    ['cqbatch dashboard --queue redis://10.0.0.7', 'the runs of all machines, too'],
  ],
  load: async () => (await import('./commands/dashboard/dashboard.ts')).dashboard,
};

const pauseCommandSpec: CommandSpec = {
  name: 'pause',
  description: 'Pauses a run: no more rows are called',
  arguments: [runArgument(' that is running')],
  options: { Pause: ['reason'], ...groups.sharedDatastoreGroup },
  load: async () => (await import('./commands/pause.ts')).pause,
};

const unpauseCommandSpec: CommandSpec = {
  name: 'unpause',
  description: 'Lets a paused run continue',
  arguments: [runArgument(' that is paused')],
  options: { Unpause: ['reason'], ...groups.sharedDatastoreGroup },
  load: async () => (await import('./commands/pause.ts')).unpause,
};

const cancelCommandSpec: CommandSpec = {
  name: 'cancel',
  description: 'Cancels a run for good, even one in progress',
  details: 'Rows that were not called are never called.',
  arguments: [runArgument(' in progress')],
  options: { Cancel: ['yes', 'reason'], ...groups.sharedDatastoreGroup },
  load: async () => (await import('./commands/cancel.ts')).cancel,
};

const runArgumentRequired = ['<run>', 'id of a run, or a part that no other id has'] as const;

const setRateCommandSpec: CommandSpec = {
  name: 'set-rate',
  description: 'Changes the rate of a run in progress or paused',
  arguments: [
    runArgumentRequired,
    ['<rate>', 'as for --rate: 20/s, 600/m, 100/15s, auto, auto..50/s or none'],
  ],
  options: { Rate: ['reason'], ...groups.sharedDatastoreGroup },
  examples: [
    ['cqbatch set-rate jsur 20/s', '20 calls per second, by all workers together'],
    ['cqbatch set-rate jsur auto..50/s', 'what the API permits, but at most 50 per second'],
  ],
  load: async () => (await import('./commands/set-option.ts')).setRunRate,
};

const setPriorityCommandSpec: CommandSpec = {
  name: 'set-priority',
  description: 'Changes the priority of a run that is not finished',
  arguments: [runArgumentRequired, ['<priority>', 'high, normal or low']],
  options: { Priority: ['reason'], ...groups.sharedDatastoreGroup },
  examples: [['cqbatch set-priority jsur high', 'before the rows of all other runs']],
  load: async () => (await import('./commands/set-option.ts')).setRunPriority,
};

const workerCommandSpec: CommandSpec = {
  name: 'worker',
  description: 'Calls the API for shared runs; or serves as a daemon',
  help: {
    baseUrl: 'address of the API; the worker calls no other',
    logLevel:
      'level of the structured log on standard error: silent, error, warn, info or debug (default: info)',
  },
  options: {
    API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'allowInsecureHttp'],
    Worker: ['coordinate', 'healthPort', 'healthHost', 'healthName', 'shutdownTimeout', 'logLevel'],
    ...groups.sharedDatastoreGroup,
    ...groups.operationsGroup,
    Calls: groups.callingOptions,
    'Old runs': ['keepLast', 'keepDays'],
    ...groups.notifications,
  },
  unused: {
    lackingOption: {
      coordinate: ['keepLast', 'keepDays', 'notifyUrl', 'pingUrl'],
      // With the embedded datastore, a run's options decide how a daemon calls.
      queue: ['concurrency', 'timeout', 'shutdownTimeout'],
    },
  },
  examples: [
    ['cqbatch worker --queue redis://10.0.0.7', 'one more machine that calls the API'],
    ['cqbatch worker --coordinate', 'a daemon for the runs and schedules of this state folder'],
    ['cqbatch worker --coordinate --concurrency 0', 'a daemon that leaves the calls to other workers'],
  ],
  load: async () => (await import('./commands/daemon/worker.ts')).worker,
};

const pruneCommandSpec: CommandSpec = {
  name: 'prune',
  description: 'Removes old runs; keeps those with open rows',
  help: { yes: 'do not ask' },
  options: { Prune: ['keepLast', 'keepDays', 'yes', 'dryRun'] },
  examples: [
    ['cqbatch prune --keep-last 30 --keep-days 90', 'removes runs that are older than both limits; asks'],
    ['cqbatch prune --keep-last 30 --keep-days 90 --yes', 'from cron'],
  ],
  load: async () => (await import('./commands/prune.ts')).prune,
};

const doctorCommandSpec: CommandSpec = {
  name: 'doctor',
  description: 'Checks what a run needs, and says what to fix',
  details:
    'Sends one request without content, which the API must refuse; to the API of your own operations (--operations) only a GET.',
  options: {
    API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'allowInsecureHttp'],
    ...groups.sharedDatastoreGroup,
    ...groups.operationsGroup,
  },
  examples: [['cqbatch doctor --json > doctor.json', 'for a ticket; has no secrets']],
  load: async () => (await import('./commands/doctor.ts')).doctor,
};

const initCommandSpec: CommandSpec = {
  name: 'init',
  description: 'Writes a settings file to fill in; overwrites nothing',
  load: async () => (await import('./commands/init.ts')).init,
};

/** The commands by their headings in the help, without the sandbox. */
export const commandGroups: Readonly<Record<string, readonly (CommandSpec | CommandGroupSpec)[]>> = {
  Run: runCommands,
  Look: [
    statusCommandSpec,
    showCommandSpec,
    listCommandSpec,
    reportCommandSpec,
    checkCommandSpec,
    verifyCommandSpec,
    dashboardCommandSpec,
  ],
  Control: [
    pauseCommandSpec,
    unpauseCommandSpec,
    cancelCommandSpec,
    setRateCommandSpec,
    setPriorityCommandSpec,
  ],
  Operate: [
    watchCommandSpec,
    scheduleCommands,
    workerCommandSpec,
    pruneCommandSpec,
    initCommandSpec,
    doctorCommandSpec,
  ],
};
