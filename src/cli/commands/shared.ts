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
    .option('--base-url <url>', 'where the API is (CQBATCH_BASE_URL)')
    .option('--allow-insecure-http', 'allow http:// to a host that is not this machine')
    .option('--rate <rate>', 'most calls: 50/s, 600/m (CQBATCH_RATE; default: no limit)');
}

/** Options of the commands that call the API. */
export function withCallOptions(command: Command): Command {
  return command
    .option(
      '--token-file <file>',
      'file with the access token, read again on 401 (CQBATCH_TOKEN_FILE, or CQBATCH_TOKEN)',
    )
    .option(
      '--concurrency <n>',
      `calls in flight at once (CQBATCH_CONCURRENCY; default: ${defaults.concurrency})`,
    )
    .option(
      '--attempts <n>',
      `attempts per row for failures that may pass (CQBATCH_ATTEMPTS; default: ${defaults.attempts})`,
    )
    .option(
      '--backoff <duration>',
      'longest pause after the first failed attempt, doubled with each (CQBATCH_BACKOFF; default: 1s)',
    )
    .option('--timeout <duration>', 'for one request, all in all (CQBATCH_TIMEOUT; default: 60s)')
    .option(
      '--max-failures <n>',
      'halt when more rows than that have failed (CQBATCH_MAX_FAILURES; default: no limit)',
    )
    .option(
      '--log-level <level>',
      'structured log on standard error: error, warn, info or debug (default: none)',
    );
}
