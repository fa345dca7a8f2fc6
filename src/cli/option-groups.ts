import { defaultClearToken } from '../manifest/manifest.ts';
import { flagOf, type SettingFlag, type SettingName } from '../settings/settings.ts';
import { defaultStateDir } from './config/load.ts';

/** An option as commander takes it. */
type Option =
  | SettingFlag
  | readonly [flags: string, description: string]
  | readonly [flags: string, description: string, byDefault: string]
  | readonly [flags: string, description: string, count: (value: unknown, before?: number) => number];

/** Options under one heading of the help. */
export interface OptionGroup {
  readonly heading: string;
  readonly options: readonly Option[];
}

export const skipInvalid: Option = ['--skip-invalid', 'leave invalid rows out instead of sending nothing'];
export const skipDone: Option = [
  '--skip-done <run|report>',
  'leave out rows whose identifier a run has done, with its retries, or a report.csv; may be repeated',
  (another: string, before: readonly string[] = []) => [...before, another],
];
export const insecureHttp: Option = [
  '--allow-insecure-http',
  'allow http:// to a host that is not this machine',
];

export const json = ['--json', 'print exactly one JSON document on standard output'] as const;

/** Of every command. */
export const output: OptionGroup = {
  heading: 'Output',
  options: [
    json,
    [
      '-q, --quiet',
      'no progress and no hints, only the result; -qq: nothing unless the exit code is above 0',
      (_: unknown, before = 0) => before + 1,
    ],
    ['--state-dir <dir>', `folder of runs and queue (CQBATCH_STATE_DIR; default: ${defaultStateDir})`],
  ],
};

/** Of the commands that write a report. */
export const reporting: OptionGroup = {
  heading: 'Output',
  options: [...settingOptions('delimiter'), ['--no-html', 'leave report.html out']],
};

/** Of the commands that take a run to its end here. */
export const following: OptionGroup = {
  heading: 'Output',
  options: [
    ['-v, --verbose', 'also say what becomes of the rate, and what is tried again'],
    ...reporting.options,
  ],
};

/** Who is told how a run ended. */
export const telling: OptionGroup = {
  heading: 'Telling people',
  options: settingOptions('notifyUrl', 'notifyOn', 'notifySecretFile', 'pingUrl', 'metricsFile'),
};

export const reason: Option = ['--reason <text>', 'why, for "cqbatch show"'];

/** What is written down for those who ask later. */
export const audit: OptionGroup = {
  heading: 'Audit',
  options: [reason, ['--save-responses', "keep each answer of the API in the run's folder, gzipped"]],
};

/** Of the commands that start a run. */
export const startOptions: readonly Option[] = [
  ['-y, --yes', 'do not ask; needed where there is no terminal to ask on'],
  ['--run-id <id>', 'name of the run; a second one of that name is refused (default: made of the time)'],
];

/** What the rows of a manifest mean. */
export const rows: OptionGroup = {
  heading: 'Manifest',
  options: [
    ['--operation <name>', 'what to do with the rows, when neither a column nor the manifest says it'],
    ...settingOptions('where', 'operations', 'default', 'userId', 'map'),
    [
      '--clear-token <text>',
      'CSV cell that sends an empty string; an empty cell is left out',
      defaultClearToken,
    ],
    ...settingOptions('sheet', 'encoding', 'skipLines', 'rowsAt'),
    ['--trim', 'drop blanks around cells'],
    ...settingOptions('maxManifestSize'),
  ],
};

/** Of the commands that work on a run that was planned with operations of the user's own. */
export const own: OptionGroup = { heading: 'Manifest', options: settingOptions('operations') };

/** How the rows of a run are called again. */
export const repeating = ['attempts', 'backoff'] as const;

/** How the API is called. */
export const calling = ['concurrency', 'timeout', 'maxOutage'] as const;

/**
 * What keeps a run from doing harm: what stands in front.
 *
 * @param before what applies when nobody says otherwise, for a run that was begun before
 */
export function guards(before?: string): OptionGroup {
  return {
    heading: 'Guards',
    options: [
      ...settingOptions('canary'),
      flagOf('maxFailures', { byDefault: before }),
      ...settingOptions('maxRows', 'stopAt'),
    ],
  };
}

/** The others. @param consent what decides, beyond them, whether and with which rows a new run may begin */
export function moreGuards(before?: string, consent: readonly Option[] = []): OptionGroup {
  return {
    heading: 'More guards',
    options: [
      ['--canary-random', 'the rows of the canary are a fair sample of all, instead of the first'],
      ...settingOptions('canaryMaxFailures'),
      ...failing(before),
      ...settingOptions('maxDuration', 'tz'),
      ...consent,
    ],
  };
}

/** Of a run that was begun before; its canary stays as it was. */
export function resumedGuards(before: string): readonly [front: OptionGroup, more: OptionGroup] {
  return [
    {
      heading: 'Guards',
      options: [flagOf('maxFailures', { byDefault: before }), ...settingOptions('maxRows', 'stopAt')],
    },
    { heading: 'More guards', options: [...failing(before), ...settingOptions('maxDuration', 'tz')] },
  ];
}

function failing(before?: string): readonly Option[] {
  return (['maxFailuresAfter', 'maxConsecutiveFailures'] as const).map((name) =>
    flagOf(name, { byDefault: before }),
  );
}

const sharing = settingOptions('queue', 'queuePrefix', 'queuePasswordFile');

/** Of the commands that look at runs, or tell them something, also from another machine. */
export const shared: OptionGroup = { heading: 'Shared datastore', options: sharing };

/**
 * Of the commands that take a run to its end.
 *
 * @param before what applies when nobody says otherwise, for a run that was begun before
 */
export function working(before?: string): readonly OptionGroup[] {
  return [
    {
      heading: 'Calls',
      options: [...calling, ...repeating].map((name) => flagOf(name, { byDefault: before })),
    },
    {
      heading: 'Shared datastore',
      options: [...sharing, ['--no-worker', 'leave the calls to workers elsewhere; needs --queue']],
    },
    {
      heading: 'Log',
      options: [
        [
          '--log-level <level>',
          'structured log on standard error: error, warn, info or debug (default: none)',
        ],
      ],
    },
  ];
}

/** Settings as options. */
export function settingOptions(...names: readonly SettingName[]): readonly Option[] {
  return names.map((name) => flagOf(name));
}
