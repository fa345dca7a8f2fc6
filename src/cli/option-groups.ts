import { guardFlags } from '../settings/settings.ts';
import type { OptionName } from './option-table.ts';

/** The options of a command, by their headings in the help, in the order of the help. */
export type OptionGroups = Readonly<Record<string, readonly OptionName[]>>;

export const output = ['json', 'quiet', 'stateDir'] as const;

export const reporting: OptionGroups = { Report: ['delimiter', 'html'] };

export const log = ['verbose', 'logLevel'] as const;

const following: OptionGroups = { ...reporting, Log: log };

export const notifications = {
  Notifications: ['notifyUrl', 'pingUrl', 'metricsFile'],
} as const satisfies OptionGroups;

export const audit: OptionGroups = { Audit: ['reason', 'saveResponses'] };

const meaning = ['operation', 'where', 'operations', 'default', 'map'] as const;
const reading = [
  'sheet',
  'hidden',
  'encoding',
  'skipLines',
  'rowsAt',
  'trim',
  'trustIds',
  'trustQuotes',
  'strict',
] as const;

export const rows: OptionGroups = { Manifest: [...meaning, ...reading] };

export const ownOperations: OptionGroups = { Manifest: ['operations'] };

/** Options that a plan does not store: they limit how long or how far a run goes before it stops. */
export const budget = ['maxRows', 'stopAt', 'maxDuration'] as const;

export const guards: OptionGroups = { Guards: ['canary', ...guardFlags, ...budget] };

export const calling = ['concurrency', 'timeout', 'maxOutage'] as const;

export const accepting = ['allowPartial', 'allowEmpty'] as const;

export const choosing = ['compare', 'skipInvalid', 'skipDone', 'onConflict', ...accepting] as const;

export const planning: OptionGroups = {
  API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
  Plan: ['out', 'open', 'planPage', 'sha256', 'verbose', ...choosing],
  ...guards,
  ...rows,
  Calls: [...calling, 'attempts', 'priority'],
  ...reporting,
  Audit: ['saveResponses'],
};

const sharing = ['queue', 'queuePasswordFile'] as const;

export const shared: OptionGroups = { 'Shared datastore': sharing };

/** The options of commands that leave the calls to a daemon. */
export const submitting: OptionGroups = {
  ...guards,
  ...rows,
  Calls: ['attempts', 'priority'],
  ...reporting,
  ...audit,
};

/** The options of commands that execute a run to its end. */
export const executing: OptionGroups = {
  Calls: [...calling, 'attempts', 'priority'],
  'Shared datastore': [...sharing, 'worker'],
  ...following,
  ...notifications,
  ...audit,
};
