import type { Command } from 'commander';
import { untilAborted } from '../../base/async/waiting.ts';
import { faultKinds } from '../../sandbox/faults.ts';
import { flagOf, type Option, readOptions } from '../../sandbox/notation.ts';
import { type SandboxOptions, sandboxOptions } from '../../sandbox/options.ts';
import { interruptible } from '../interrupt.ts';
import { withHeadings } from '../render/style.ts';

/** The sandbox has a fixed port, so that the commands to type are always the same. */
const defaultPort = 8791;

type SandboxFlags = SandboxOptions & { readonly json?: boolean; readonly quiet?: boolean };

export function defineSandbox(command: Command): void {
  // The options of a group follow each other in the table.
  for (const [name, { byDefault, help }] of Object.entries<Option>(sandboxOptions)) {
    const [group, value, purpose] = help;
    const shown = name === 'port' ? defaultPort : byDefault;
    const [flags, said] =
      value === '' ? [flagOf(name), purpose] : [`${flagOf(name)} ${value}`, `${purpose} (default: ${shown})`];
    command.optionsGroup(`${group}:`).option(flags, said);
  }
  command
    .optionsGroup('Output:')
    .option('--json', 'print one JSON document with url, port, pid and token')
    .option('-q, --quiet', 'print only the URL')
    .addHelpText('after', withHeadings(afterHelp()))
    .helpOption('-h, --help', 'show this help')
    .action(runSandbox);
}

async function runSandbox({ json = false, quiet = false, ...options }: SandboxFlags): Promise<void> {
  const [{ openTerminal }, { startSandbox }, { Service }] = await Promise.all([
    import('../terminal.ts'),
    import('../../sandbox/sandbox.ts'),
    import('../../sandbox/service.ts'),
  ]);
  const terminal = openTerminal({ json, quiet: Number(quiet) });
  const interrupt = interruptible(() => {});
  const settings = readOptions(sandboxOptions, { port: defaultPort, ...options });
  const { url, port, close } = await startSandbox(new Service(settings));
  const [token] = settings.token;
  terminal.result({ url, port, pid: process.pid, token }, url);
  if (!json) terminal.say(hints(url, token));
  await untilAborted(interrupt.signal);
  interrupt.release();
  close();
}

function hints(url: string, token: string): string {
  return `
In another terminal:
  export CQBATCH_BASE_URL=${url} CQBATCH_TOKEN=${quotedHint(token)}
  printf 'evaluation_id,user_id\\n1,demo\\n2,demo\\n50,demo\\n' > rows.csv
  cqbatch run rows.csv

To see what it has received and changed:
  curl ${url}/sandbox/log
  curl ${url}/sandbox/state

Ctrl-C stops the sandbox; nothing is kept.`;
}

function quotedHint(text: string): string {
  return /^[\w-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function afterHelp(): string {
  const width = Math.max(...faultKinds.map(({ name }) => name.length));
  return `
Faults:
${faultKinds.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Shapes (names and values of requests and answers, errors, headers):
  document  as the interface document is written; unknown fields are refused
  gateway   as a JSON gateway before a Protocol Buffers service answers:
            camelCase, 64-bit integers as strings, all zero values, details in
            errors, headers with Grpc-Metadata-; unknown fields are dropped
  connect   as Connect answers: the same without zero values and prefix;
            errors with names as codes, details in base64

Updates:
  merge     keeps a field that is left out, clears one that is sent empty
  replace   resets a field that is left out, clears one that is sent empty
  presence  keeps both: does not distinguish an empty field from a missing one

Lists (evaluations in pages, one evaluation, all soundboard entries):
  served     answered
  forbidden  403, which names the missing permission
  missing    as an unknown path: a service without lists
  balancer   404 with "default backend", also for unknown paths

Limits (add per=token to limit each token separately):
  token-bucket:rate=50,burst=10      50 calls a second; up to 10 at once
  leaky-bucket:rate=50,queue=20      20 calls wait; others are refused
  fixed-window:limit=600,window=1m   by the clock; align=first: by first call
  sliding-window:limit=50,window=1s  in any second
  daily-quota:limit=1000             from midnight to midnight UTC
  concurrency:limit=10               calls in progress at the same time
  LIMIT then 30s LIMIT               another limit 30 s after the first call

Examples:
  cqbatch sandbox
  cqbatch sandbox --shape gateway --updates presence
  cqbatch sandbox --soundboards 1000000 --changing
  cqbatch sandbox --latency 20ms..80ms --limit token-bucket:rate=50,burst=10
  cqbatch sandbox --limit concurrency:limit=10 --limit-status 503
  cqbatch sandbox --limit "token-bucket:rate=50 then 30s token-bucket:rate=10"
  cqbatch sandbox --fault reset=1%,timeout=0.5%,502-after-commit=1%

The URL's path /sandbox lists the requests: see docs/sandbox.md.`;
}
