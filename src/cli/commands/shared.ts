import type { Command } from 'commander';
import { defaults } from '../config/settings.ts';

/** Options that every command has. */
export function withCommonOptions(command: Command): Command {
  return command
    .option(
      '--state-dir <dir>',
      `folder of runs and queue (CQBATCH_STATE_DIR; default: ${defaults.stateDir})`,
    )
    .option('--json', 'print exactly one JSON document on standard output')
    .option('-q, --quiet', 'no progress and no hints, only the result');
}

/** Options of the commands that may use a shared datastore. */
export function withQueueOptions(command: Command): Command {
  return command
    .option('--queue <url>', 'shared datastore: redis://host:6379/0 (CQBATCH_QUEUE; default: embedded)')
    .option(
      '--queue-prefix <name>',
      `what its keys begin with (CQBATCH_QUEUE_PREFIX; default: ${defaults.queuePrefix})`,
    )
    .option(
      '--queue-password-file <file>',
      'file with its password (CQBATCH_QUEUE_PASSWORD_FILE, or CQBATCH_QUEUE_PASSWORD)',
    );
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
  return command
    .option('--operation <name>', 'what to do with the rows, when neither a column nor the manifest says it')
    .option('--user-id <id>', 'user_id of restore rows that have none (CQBATCH_USER_ID)')
    .option(
      '--clear-token <text>',
      'CSV cell that sends an empty string; an empty cell is left out',
      defaults.clearToken,
    )
    .option(
      '--max-manifest-size <size>',
      'largest manifest, also after unzipping: 500MB, 2GiB, none (CQBATCH_MAX_MANIFEST_SIZE; default: 4GB)',
    )
    .option('--base-url <url>', 'where the API is (CQBATCH_BASE_URL)')
    .option('--allow-insecure-http', 'allow http:// to a host that is not this machine')
    .option(
      '--rate <rate>',
      'auto finds what the API permits; auto..50/s no more than that; 50/s, 600/m, none (CQBATCH_RATE; default: auto)',
    );
}

/** Options of the commands that call the API. */
export function withWorkerOptions(command: Command): Command {
  return command
    .option(
      '--token-file <file>',
      'file with the access token, read again on 401 (CQBATCH_TOKEN_FILE, or CQBATCH_TOKEN)',
    )
    .option(
      '--concurrency <n>',
      `calls in flight at once, or auto (CQBATCH_CONCURRENCY; default: ${defaults.concurrency})`,
    )
    .option('--timeout <duration>', 'for one request, all in all (CQBATCH_TIMEOUT; default: 60s)')
    .option(
      '--max-outage <duration>',
      'how long to wait for an API that is away; or none, for ever (CQBATCH_MAX_OUTAGE; default: 15m)',
    );
}

/** Options of the commands that say how the rows of a run are called. */
export function withPolicyOptions(command: Command): Command {
  return command
    .option(
      '--attempts <n>',
      `attempts per row for failures that may pass (CQBATCH_ATTEMPTS; default: ${defaults.attempts})`,
    )
    .option(
      '--backoff <duration>',
      'longest pause after the first failed attempt, doubled with each (CQBATCH_BACKOFF; default: 1s)',
    )
    .option(
      '--max-failures <n>',
      'halt when more rows than that have failed (CQBATCH_MAX_FAILURES; default: no limit)',
    );
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
