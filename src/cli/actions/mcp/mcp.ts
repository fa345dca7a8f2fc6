import { Writable } from 'node:stream';
import { actForAgent } from '../../../actor.ts';
import { usageError } from '../../../errors.ts';
import { parseInteger } from '../../../index.ts';
import { withReleases } from '../../../releases.ts';
import { aborted, deferred } from '../../../waiting.ts';
import type { Flags } from '../../config/load.ts';
import { openWorkplace } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { interruptible } from '../../interrupt.ts';
import { writeMessage } from '../../output.ts';
import { parsed } from '../options.ts';
import { AgentRuns } from './agent-runs.ts';
import { RowBudget } from './budget.ts';
import { loadSdk } from './sdk.ts';
import { makeServer } from './server.ts';
import { toolsFor } from './tools.ts';

/** `cqbatch mcp`: serves tools to an agent, on standard input and output, until the input ends. */
export async function mcp({ maxRows, ...flags }: Flags): Promise<ExitCode> {
  if (flags.json)
    throw usageError(
      'INVALID_SETTING',
      'Standard output carries the messages of the protocol: leave out --json.',
    );
  const budget =
    maxRows === undefined
      ? undefined
      : parsed('--max-rows', maxRows, parseInteger(1, Number.MAX_SAFE_INTEGER));
  const sdk = await loadSdk();
  actForAgent();
  // A client shows an error at the start.
  await openWorkplace(flags);
  return withReleases(async (atEnd) => {
    const stop = interruptible(() => {});
    atEnd(stop.release);
    const closed = deferred();
    const runs = new AgentRuns(budget === undefined ? undefined : new RowBudget(budget));
    atEnd(() => runs.close());
    const server = makeServer(sdk, toolsFor(runs), flags);
    server.onclose = closed.resolve;
    await server.connect(new sdk.StdioServerTransport(process.stdin, messages()));
    atEnd(() => server.close());
    await Promise.race([closed.promise, aborted(stop.signal)]);
    return exitCodes.success;
  });
}

/** Standard output, for the transport. */
function messages(): Writable {
  return new Writable({
    write(json: Buffer, _encoding, done) {
      writeMessage(json.toString());
      done();
    },
  });
}
