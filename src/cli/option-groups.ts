import type { Command } from 'commander';
import { defaultStateDir } from './config/load.ts';
import { flagOf, type SettingName } from './config/settings.ts';

/** A CSV cell that sends an empty string. */
export const defaultClearToken = '<clear>';

const insecureHttp = ['--allow-insecure-http', 'allow http:// to a host that is not this machine'] as const;

/** Options for settings of these names. */
function withSettings(command: Command, ...names: readonly SettingName[]): Command {
  for (const name of names) command.option(...flagOf(name));
  return command;
}

/** An option for a setting that means something of its own to a command. */
export function withSetting(command: Command, name: SettingName, description: string): Command {
  return command.option(flagOf(name)[0], description);
}

/** Options that every command has. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--state-dir <dir>', `folder of runs and queue (CQBATCH_STATE_DIR; default: ${defaultStateDir})`)
    .option('--json', 'print exactly one JSON document on standard output')
    .option('-q, --quiet', 'no progress and no hints, only the result');
}

/** Options of the commands that may use a shared datastore. */
export function withQueueOptions(command: Command): Command {
  return withSettings(command, 'queue', 'queuePrefix', 'queuePasswordFile');
}

/** Options of the commands that start a run. */
export function withRunOptions(command: Command): Command {
  return command
    .option('-y, --yes', 'do not ask; needed where there is no terminal to ask on')
    .option(
      '--run-id <id>',
      'name of the run; a second one of that name is refused (default: made of the time)',
    );
}

/** Options of the commands that read a manifest. */
export function withManifestOptions(command: Command): Command {
  command.option(
    '--operation <name>',
    'what to do with the rows, when neither a column nor the manifest says it',
  );
  withSettings(command, 'userId').option(
    '--clear-token <text>',
    'CSV cell that sends an empty string; an empty cell is left out',
    defaultClearToken,
  );
  withSettings(command, 'maxManifestSize', 'baseUrl').option(...insecureHttp);
  return withSettings(command, 'rate');
}

/** Where the API is, for commands that say what that means to them. */
export function withTarget(command: Command, description: string): Command {
  return withSetting(command, 'baseUrl', description).option(...insecureHttp);
}

/** Options of the commands that call the API. */
export function withWorkerOptions(command: Command): Command {
  return withSettings(command, 'tokenFile', 'concurrency', 'timeout', 'maxOutage');
}

/** How a worker that serves ends, and says how it is. */
export function withServiceOptions(command: Command): Command {
  return withSettings(command, 'shutdownTimeout', 'healthPort', 'healthHost');
}

/** Options of the commands that say how the rows of a run are called. */
export function withPolicyOptions(command: Command): Command {
  return withSettings(command, 'attempts', 'backoff', 'maxFailures');
}

/** Options of the commands that take a run to its end. */
export function withCallOptions(command: Command): Command {
  return withQueueOptions(withPolicyOptions(withWorkerOptions(command)))
    .option('--no-worker', 'leave the calls to workers elsewhere; needs --queue')
    .option(
      '--log-level <level>',
      'structured log on standard error: error, warn, info or debug (default: none)',
    );
}
