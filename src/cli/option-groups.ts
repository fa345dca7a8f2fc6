import { guardFlags, sharingFlags } from '../settings/settings.ts';
import type { OptionName } from './option-table.ts';

/** The options of a command, by their headings in the help, in the order of the help. */
export type OptionGroups = Readonly<Record<string, readonly OptionName[]>>;

export const outputOptions = ['json', 'quiet', 'stateDir'] as const;

export const reportGroup: OptionGroups = { Report: ['delimiter', 'html'] };

export const logOptions = ['verbose', 'logLevel'] as const;

const followingGroups: OptionGroups = { ...reportGroup, Log: logOptions };

export const notifications = {
  Notifications: ['notifyUrl', 'pingUrl', 'metricsFile'],
} as const satisfies OptionGroups;

export const auditGroup: OptionGroups = { Audit: ['reason', 'saveResponses'] };

const meaningOptions = ['operation', 'where', 'operations', 'default', 'map'] as const;
const readingOptions = [
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

export const rowGroup: OptionGroups = { Manifest: [...meaningOptions, ...readingOptions] };

export const operationsGroup: OptionGroups = { Manifest: ['operations'] };

/** Options that a plan does not store: they limit how long or how far a run goes before it stops. */
export const budgetOptions = ['maxRows', 'stopAt', 'maxDuration'] as const;

export const guardGroup: OptionGroups = { Guards: ['canary', ...guardFlags, ...budgetOptions] };

export const callingOptions = ['concurrency', 'timeout', 'maxOutage'] as const;

export const acceptingOptions = ['allowPartial', 'allowEmpty'] as const;

export const choosingOptions = [
  'compare',
  'skipInvalid',
  'skipDone',
  'onConflict',
  ...acceptingOptions,
] as const;

export const planningGroups: OptionGroups = {
  API: ['baseUrl', 'rateGroup', 'tokenFile', 'tokenCommand', 'rate', 'allowInsecureHttp'],
  Plan: ['out', 'open', 'planPage', 'sha256', 'verbose', ...choosingOptions],
  ...guardGroup,
  ...rowGroup,
  Calls: [...callingOptions, 'attempts', 'priority'],
  ...reportGroup,
  Audit: ['saveResponses'],
};

export const sharedDatastoreGroup: OptionGroups = { 'Shared datastore': sharingFlags };

/** The options of commands that leave the calls to a daemon. */
export const submittingGroups: OptionGroups = {
  ...guardGroup,
  ...rowGroup,
  Calls: ['attempts', 'priority'],
  ...reportGroup,
  ...auditGroup,
};

/** The options of commands that execute a run to its end. */
export const executingGroups: OptionGroups = {
  Calls: [...callingOptions, 'attempts', 'priority'],
  'Shared datastore': [...sharingFlags, 'worker'],
  ...followingGroups,
  ...notifications,
  ...auditGroup,
};
