import { formatTitles } from '../engine/manifest/formats.ts';
import { guardFlags, sharingFlags } from '../settings/settings.ts';
import { type CommandSpec, runArgument } from './command-spec.ts';
import * as groups from './option-groups.ts';

const manifestArgument = [
  '<manifest>',
  `${formatTitles} file, also gzipped; - reads standard input`,
] as const;
const manifestOrPlanArgument = [manifestArgument[0], `${manifestArgument[1]}; or a plan (.cqplan)`] as const;

const consentOptions = ['yes', 'runId', 'wait'] as const;

const verboseHelp = 'also show the first requests, decisions about the rate, and rows that are retried';

/** What commands that run rows of another run have in common. */
const derivedRunSpec: Pick<Required<CommandSpec>, 'fromRun' | 'help' | 'options' | 'unused'> = {
  fromRun: 'as in that run',
  help: {
    verbose: verboseHelp,
    out: 'write the plan of the rows to NAME.cqplan, to be reviewed; send nothing',
    open: 'show the plan as a page in the browser; send nothing',
    planPage: 'write the plan as a page: NAME.html; replaces only such a page; send nothing',
  },
  options: {
    API: ['tokenFile', 'tokenCommand', 'rate'],
    Run: [...consentOptions, 'compare', 'skipInvalid', 'allowPartial', 'allowEmpty'],
    ...groups.guardGroup,
    ...groups.operationsGroup,
    ...groups.executingGroups,
  },
  unused: {
    overriddenBy: {
      out: [
        ...groups.budgetOptions,
        ...consentOptions,
        'logLevel',
        'reason',
        ...groups.notifications.Notifications,
      ],
    },
  },
};

const exportCommandSpec: CommandSpec = {
  name: 'export',
  description: 'Writes what the service lists to a file',
  details:
    'The file is a manifest: delete the rows that you do not want, edit the others, then plan the manifest.',
  arguments: [['<list>', 'deleted-evaluations, soundboards, or a list of your own operations']],
  help: {
    out: 'file to write: NAME.csv, .tsv, .jsonl or .xlsx; - writes CSV to standard output',
    where:
      "only entries with this value, such as 'deleted_by=u-17' or 'deleted_at>=2026-11-16'; may be repeated",
    rate: 'at most this number of calls, such as 5/s; there is one call at a time in any case',
    attempts: 'number of attempts for a page with transient failures',
    delimiter: 'delimiter of CSV: comma, semicolon, tab or pipe (default: comma)',
    allowEmpty: 'write a file without entries if none is chosen',
  },
  options: {
    Entries: ['out', 'where', 'allowEmpty', 'delimiter'],
    API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
    Calls: ['timeout', 'attempts', 'maxOutage'],
    ...groups.operationsGroup,
  },
  examples: [
    [
      'cqbatch export deleted-evaluations --where deleted_by=u-17 --out rows.csv',
      'what one user has deleted',
    ],
    ['cqbatch export soundboards --out soundboards.xlsx', 'all entries, for Excel'],
  ],
  load: async () => (await import('./commands/export.ts')).exportEntries,
};

const planCommandSpec: CommandSpec = {
  name: 'plan',
  description: 'Checks every row and shows what would change; sends nothing',
  arguments: [manifestOrPlanArgument],
  help: { verbose: 'also show the first requests', open: 'show the plan as a page in the browser' },
  options: groups.planningGroups,
  unused: { overriddenBy: { out: groups.budgetOptions } },
  examples: [
    ['cqbatch plan evaluations.csv', 'what would be sent, and what is wrong'],
    ['cqbatch plan evaluations.csv --open', 'the same as a page: every row with old and new values'],
    ['cqbatch plan evaluations.csv --rate 20/s', 'how long the run takes at 20 calls per second'],
    ['cqbatch plan evaluations.csv --out monday.cqplan', 'a plan for a colleague or for cron to run'],
  ],
  load: async () => (await import('./commands/run/plan.ts')).plan,
};

const runCommandSpec: CommandSpec = {
  name: 'run',
  description: 'Plans, asks, calls the API for each row, and reports',
  arguments: [manifestOrPlanArgument],
  help: { verbose: verboseHelp },
  options: {
    API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
    Run: ['yes', 'sha256', 'runId', 'orResume', 'resumeHalted', 'wait', ...groups.choosingOptions],
    ...groups.guardGroup,
    ...groups.rowGroup,
    ...groups.executingGroups,
  },
  examples: [
    ['cqbatch run evaluations.csv', 'plan, ask, call, report'],
    [
      'cqbatch run evaluations.csv --canary 10 --rate auto..20/s',
      'ten rows first; at most 20 calls per second',
    ],
    ['cqbatch run nightly.csv --run-id monday --or-resume --wait 1h --yes -qq', 'from cron'],
  ],
  load: async () => (await import('./commands/run/run.ts')).run,
};

export const watchCommandSpec: CommandSpec = {
  name: 'watch',
  description: 'Runs each manifest that appears in a folder',
  details: 'A manifest with the content of an earlier manifest is not run again.',
  arguments: [['<folder>', "a folder, or a pattern of names in a folder: 'inbox/*.csv'"]],
  help: { json: 'print a JSON document for each manifest, one per line' },
  options: {
    API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
    Watch: [
      'once',
      'yes',
      'skipInvalid',
      'compare',
      'onConflict',
      ...groups.acceptingOptions,
      'settle',
      'wait',
      'healthPort',
      'healthHost',
      'healthName',
    ],
    ...groups.guardGroup,
    ...groups.rowGroup,
    ...groups.executingGroups,
  },
  unused: { overriddenBy: { once: ['healthPort', 'healthHost', 'healthName'] } },
  examples: [
    ['cqbatch watch inbox', 'each manifest ends in inbox/done, inbox/partial or inbox/failed'],
    ["cqbatch watch 'inbox/restore-*.csv' --rate 20/s --yes", 'some files, slowly, as a service'],
    ['cqbatch watch inbox --once --yes -qq', 'from cron: the manifests that wait there now'],
  ],
  load: async () => (await import('./commands/daemon/watch.ts')).watch,
};

const resumeCommandSpec: CommandSpec = {
  name: 'resume',
  description: 'Continues a run that stopped; repeats no finished row',
  arguments: [runArgument(' that is not finished')],
  fromRun: 'as before',
  help: {
    baseUrl: 'another address, if the API of the run has never answered',
    yes: 'do not ask after the canary',
  },
  options: {
    API: ['baseUrl', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
    Run: ['yes', 'submit', 'wait'],
    // `resume` has no option for a canary: the run keeps the canary that it started with.
    Guards: [...guardFlags, ...groups.budgetOptions],
    ...groups.operationsGroup,
    ...groups.executingGroups,
  },
  examples: [
    ['cqbatch resume', 'the newest run'],
    ['cqbatch resume 20261121-104117-jsur --rate auto..20/s', 'another run, more slowly'],
    ['cqbatch resume jsur --submit', 'at the daemon of this state folder'],
  ],
  unused: {
    overriddenBy: {
      submit: [
        'wait',
        'tokenFile',
        'tokenCommand',
        'operations',
        'worker',
        ...sharingFlags,
        ...groups.logOptions,
        ...groups.notifications.Notifications,
      ],
    },
  },
  load: async () => (await import('./commands/run/resume.ts')).resume,
};

const retryCommandSpec: CommandSpec = {
  name: 'retry',
  description: 'Starts a new run of the rows that failed',
  details: 'Rows that a cancelled run never sent are taken, too.',
  arguments: [runArgument(' with such rows')],
  ...derivedRunSpec,
  options: {
    Rows: ['transient', 'unclear', 'code'],
    Plan: ['plan', 'out', 'open', 'planPage'],
    ...derivedRunSpec.options,
  },
  examples: [
    ['cqbatch retry --plan', 'what would be sent'],
    ['cqbatch retry', 'what failed in the newest run'],
    ['cqbatch retry --transient', 'of this, only what may succeed without a change'],
    ['cqbatch retry jsur --code UNAVAILABLE INTERNAL', 'in another run, only rows with these codes'],
  ],
  load: async () => (await import('./commands/run/retry.ts')).retry,
};

const undoCommandSpec: CommandSpec = {
  name: 'undo',
  description: 'Starts a new run that puts old values back',
  details:
    'The run must have been compared (--compare), or its manifest must have the old values, in columns such as old_title.',
  arguments: [runArgument(' that was not undone')],
  ...derivedRunSpec,
  options: { Plan: ['plan', 'out', 'open', 'planPage', 'overwrite'], ...derivedRunSpec.options },
  examples: [
    ['cqbatch undo --plan', 'what would be sent'],
    ['cqbatch undo', 'what the newest run has changed'],
    ['cqbatch undo jsur --reason "wrong column"', 'what another run has changed'],
  ],
  load: async () => (await import('./commands/run/undo.ts')).undo,
};

const submitCommandSpec: CommandSpec = {
  name: 'submit',
  description: 'Plans, asks, and hands the run to a daemon',
  details: 'The daemon is "cqbatch worker --coordinate".',
  arguments: [manifestOrPlanArgument],
  options: {
    API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
    Run: ['yes', 'sha256', 'runId', ...groups.choosingOptions],
    ...groups.submittingGroups,
  },
  load: async () => (await import('./commands/run/submit.ts')).submit,
};

export const runCommands: readonly CommandSpec[] = [
  exportCommandSpec,
  planCommandSpec,
  runCommandSpec,
  resumeCommandSpec,
  retryCommandSpec,
  undoCommandSpec,
  submitCommandSpec,
];
