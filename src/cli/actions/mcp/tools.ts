import type { Tool as ToolDescription } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { maxReasonLength } from '../../../actor.ts';
import { outcomes } from '../../../domain.ts';
import { usageError } from '../../../errors.ts';
import { parseRate, type RatePolicy } from '../../../index.ts';
import type { Flags } from '../../config/load.ts';
import { pauseIn } from '../control/control.ts';
import { setRateIn } from '../control/set-option.ts';
import { listIn } from '../look/list.ts';
import { showIn } from '../look/show.ts';
import { statusIn } from '../look/status.ts';
import { parsed } from '../options.ts';
import { planIn } from '../run/plan.ts';
import type { AgentRuns } from './agent-runs.ts';
import { documentOfCommand } from './command.ts';
import { manifestOfAgent, planOfAgent } from './files.ts';
import { mostRows, pageOfRows } from './rows.ts';

/** What an agent can do. */
export interface Tool {
  readonly description: ToolDescription;
  /** @returns the document for the agent. @throws a usage error `ARGUMENTS_INVALID` */
  call(flags: Flags, given: unknown): Promise<object>;
}

interface ToolSpec<Input extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Default: the tool changes nothing. */
  readonly annotations?: ToolDescription['annotations'];
  readonly act: (flags: Flags, input: z.infer<Input>) => Promise<object>;
}

const readOnly = { readOnlyHint: true, openWorldHint: false };

function tool<Input extends z.ZodObject>(spec: ToolSpec<Input>): Tool {
  const { name, title, description, input, annotations = readOnly, act } = spec;
  const inputSchema = z.toJSONSchema(input) as ToolDescription['inputSchema'];
  return {
    description: { name, title, description, inputSchema, annotations },
    async call(flags, given) {
      const { data, error } = input.safeParse(given);
      if (error !== undefined)
        throw usageError(
          'ARGUMENTS_INVALID',
          `The arguments of ${name} are wrong: ${z.prettifyError(error)}`,
        );
      return act(flags, data);
    },
  };
}

const run = z.string().min(1).max(100).describe('id of a run, or a part that no other id has');

const plan = tool({
  name: 'plan',
  title: 'Plan a manifest',
  description:
    'Checks every row of a manifest and says what a run would send. Sends nothing. With `out`, it also writes the plan to a file ' +
    'that a person can approve.',
  input: z.strictObject({
    manifest: z.string().describe('CSV, TSV, JSON, JSON Lines or Excel file in the folder of the server'),
    operation: z.string().optional().describe('operation for the rows, if their columns do not imply it'),
    where: z.array(z.string()).optional().describe("only rows with this value, such as 'deleted_by=u-17'"),
    sheet: z.string().optional().describe('sheet of an Excel workbook'),
    out: z.string().optional().describe('new file for the plan, such as week-47.cqplan'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async act(flags, { manifest, out, operation, where, sheet }) {
    const [source, file] = [
      await manifestOfAgent(manifest, flags),
      out === undefined ? undefined : await planOfAgent(out, flags),
    ];
    const given = {
      ...(operation !== undefined && { operation }),
      ...(where !== undefined && { where }),
      ...(sheet !== undefined && { sheet }),
      ...(file !== undefined && { out: file }),
    };
    return documentOfCommand({ ...flags, ...given }, (context) => planIn(context, source));
  },
});

const listRuns = tool({
  name: 'list_runs',
  title: 'List runs',
  description: 'Lists the newest runs with their state and how many rows are done and failed.',
  input: z.strictObject({}),
  act: (flags) => documentOfCommand(flags, listIn),
});

const lookAtRun = tool({
  name: 'look_at_run',
  title: 'Look at a run',
  description: 'Shows the progress of a run, and its history: when, by whom, and why.',
  input: z.strictObject({ run }),
  act: async (flags, { run }) => ({
    status: await documentOfCommand(flags, (context) => statusIn(context, run)),
    history: await documentOfCommand(flags, (context) => showIn(context, run)),
  }),
});

const rows = tool({
  name: 'rows',
  title: 'Rows of a report',
  description:
    'Shows results of rows in the order of the manifest. `next_after` is the value of `after` for the next page.',
  input: z.strictObject({
    run,
    outcome: z.enum(outcomes).optional().describe('only rows with this outcome'),
    code: z.string().max(100).optional().describe('only rows with this code'),
    after: z.int().min(0).default(0).describe('only rows with a higher number'),
    limit: z.int().min(1).max(mostRows).default(mostRows).describe('rows on a page'),
  }),
  act: (flags, wanted) => pageOfRows(flags, wanted),
});

const rowStory = tool({
  name: 'row_story',
  title: 'The story of a row',
  description:
    'Shows the cells of a row, its request, each attempt and its result, also in retries of the run.',
  input: z.strictObject({ run, row: z.int().min(1).describe('number of the row, from 1') }),
  act: (flags, { run, row }) =>
    documentOfCommand({ ...flags, row: String(row) }, (context) => showIn(context, run)),
});

const careful = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const reason = z.string().min(1).max(maxReasonLength).optional().describe('why, for the history of the run');

const pauseRun = tool({
  name: 'pause_run',
  title: 'Pause a run',
  description:
    'Pauses a run: no more rows are called until a person lets it continue with "cqbatch unpause".',
  input: z.strictObject({ run, reason }),
  annotations: careful,
  act: (flags, { run, reason }) =>
    documentOfCommand({ ...flags, ...(reason !== undefined && { reason }) }, (context) =>
      pauseIn(context, run),
    ),
});

const lowerRate = tool({
  name: 'lower_rate',
  title: 'Lower the rate of a run',
  description:
    'Lowers the rate of a run in progress. Only a person can raise it again, with "cqbatch set-rate".',
  input: z.strictObject({
    run,
    rate: z.string().max(20).describe('most calls: 5/s or 300/m'),
    reason,
  }),
  annotations: careful,
  act: (flags, { run, rate, reason }) =>
    documentOfCommand({ ...flags, ...(reason !== undefined && { reason }) }, (context) =>
      setRateIn(context, run, (now) => lowerThan(now, rate)),
    ),
});

/** @throws a usage error for a rate that is not lower than each of these */
function lowerThan(now: readonly (RatePolicy | null)[], text: string): RatePolicy {
  const wanted = parsed('rate', text, parseRate);
  const perSecond = wanted?.perSecond;
  if (perSecond === undefined)
    throw usageError('INVALID_SETTING', `rate "${text}": write a rate such as 5/s.`);
  for (const each of now) {
    if (each?.perSecond === undefined || perSecond < each.perSecond) continue;
    throw usageError('RATE_NOT_LOWER', `The run has the rate ${each.text}: an agent can only lower it.`);
  }
  // A run that looks for the limit of the API goes on to do so below this rate.
  const auto = now.at(-1)?.auto === true;
  return parsed('rate', auto ? `auto..${text.replace('auto..', '')}` : text, parseRate) ?? { text, auto };
}

/** The tools of a server that begins runs in `runs`. */
export function toolsFor(runs: AgentRuns): readonly Tool[] {
  const runPlan = tool({
    name: 'run_plan',
    title: 'Run an approved plan',
    description:
      'Runs a plan that a person has approved with "cqbatch approve". The run goes on in this server; look_at_run shows its ' +
      'progress. A plan runs once.',
    input: z.strictObject({ plan: z.string().describe('file of the plan, such as week-47.cqplan'), reason }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    act: async (flags, { plan, reason }) =>
      runs.begin({ ...flags, ...(reason !== undefined && { reason }) }, await planOfAgent(plan, flags)),
  });
  return [plan, listRuns, lookAtRun, rows, rowStory, pauseRun, lowerRate, runPlan];
}
