import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withTemporaryFolder } from '../../../base/disk/owned-folder.ts';
import { fatalError, usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import type { Operation } from '../../../engine/operation/operation.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { dashboardReason } from '../../../pages/server/control.ts';
import {
  type Choices,
  type EditableList,
  mostUploadBytes,
  type Planned,
} from '../../../pages/server/start/draft.ts';
import { plannedSchema } from '../../../pages/server/start/draft-schema.ts';
import type { PageCommands, PlanOutput } from '../../../pages/server/start/page-commands.ts';
import { type Flags, loadSettings } from '../../config.ts';
import { type Context, chooseDatastore, type RefusedManifest } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { withoutMarks } from '../../render/style.ts';
import { silentTerminal, type Terminal } from '../../terminal.ts';
import { checkNamed } from '../check.ts';
import { exportList } from '../export.ts';
import { flagsWhere, runOptions } from '../options.ts';
import { withNamedPlan } from '../run/named-plan.ts';
import { planManifestOrPlan } from '../run/plan.ts';
import { retryRun } from '../run/retry.ts';
import { submitNamed } from '../run/submit.ts';
import { submitResumed } from '../run/submit-resumed.ts';
import { undoRun } from '../run/undo.ts';

/** The options that are only about the page itself. */
const pageOptions: readonly string[] = ['port', 'host', 'publicUrl', 'control', 'start', 'json', 'quiet'];

/**
 * The most that a compressed manifest unpacks to, unless the settings say otherwise. The usual limit is for a terminal, where Ctrl-C ends a
 * plan that takes too long.
 */
const mostUnpackedBytes = 5 * mostUploadBytes;

/** How many rows are called first if the person wants that. */
const tenRows = { rows: 10, pause: true } as const;

/**
 * Gives commands in this process, without a terminal. Their flags are those of the dashboard; settings are read for each command, as a
 * command in a terminal reads them.
 */
export function openPageCommands(flags: Flags, store: RunStore): PageCommands {
  const ownFlags = flagsWhere(flags, (name) => !pageOptions.includes(name));

  async function give(more: Flags, work: (context: Context) => Promise<ExitCode>): Promise<Printed> {
    const given: Flags = { ...ownFlags, ...more, yes: true };
    const printed = openPrinted();
    const input = { terminal: printed.terminal, flags: given, settings: await loadSettings(given) };
    const datastore = await chooseDatastore(input);
    const onRefused = ({ refusalMessage }: RefusedManifest): void => printed.terminal.warn(refusalMessage);
    const code = await work({ ...input, store, datastore, onRefused });
    if (code === exitCodes.interrupted) throw fatalError('STOPPING', 'The dashboard is being stopped.');
    return printed;
  }

  async function plan(
    more: Flags,
    { plan: out, page: planPage }: PlanOutput,
    work: (context: Context) => Promise<ExitCode>,
  ): Promise<Planned> {
    for (const path of [out, planPage]) await onDisk(path, () => rm(path, { force: true }));
    const { document, warnings } = await give({ ...more, out, planPage }, work);
    const { data } = plannedSchema.safeParse({
      ...document,
      operations: Object.keys(Object(document['operations'])),
    });
    // A retry for which there are no rows prints no plan, but says why.
    if (data === undefined)
      throw usageError('NOTHING_TO_PLAN', warnings.join('\n') || 'There is nothing to plan.');
    return data;
  }

  return {
    async offer() {
      const settings = await loadSettings(ownFlags);
      const input = { terminal: silentTerminal(), flags: ownFlags, settings };
      const { baseUrl, rateGroup } = runOptions({ ...input, store });
      const { queue } = await chooseDatastore(input);
      return {
        baseUrl,
        rateGroup,
        oneRunAtATime: queue === undefined,
        operations: store.operations.map(({ name, summary, fields }) => ({
          name,
          summary,
          fields: fields.map((field) => field.name),
        })),
        lists: store.operations.flatMap(editableList),
      };
    },
    planManifest: ({ path, name, sha256 }, choices, output) =>
      plan(flagsOf(choices), output, (context) => {
        const { maxManifestSize = mostUnpackedBytes } = context.settings;
        const settings = { ...context.settings, maxManifestSize };
        return planManifestOrPlan({ ...context, settings }, path, { name, sha256, keepUntil: path });
      }),
    planAgain: (as, run, choices, output) =>
      plan(flagsOf(choices), output, (context) => (as === 'retry' ? retryRun : undoRun)(context, run)),
    async submit({ path, sha256 }, { reason, tenFirst }) {
      const { document, warnings } = await give({ sha256, reason }, (context) => {
        const settings = tenFirst ? { ...context.settings, canary: tenRows } : context.settings;
        return withNamedPlan({ ...context, settings }, path, (named) => submitNamed(named, path));
      });
      const { run } = document;
      if (typeof run === 'string') return run;
      throw usageError('NOT_STARTED', warnings.join('\n'));
    },
    async resume(run, reason) {
      await give({ reason }, async (context) => {
        const record = await context.store.load(run);
        if (record.state === 'halted' && reason === dashboardReason(undefined, false))
          throw usageError('REASON_MISSING', `Run ${run} was halted: write why it may continue.`);
        return submitResumed(context, record);
      });
    },
    async check(run) {
      return (await give({}, (context) => checkNamed(context, run))).text;
    },
    entries: (list) =>
      withTemporaryFolder(store.stateDir, 'lists', async (folder) => {
        const out = join(folder, `${list.replaceAll(/[^\w-]/g, '')}.jsonl`);
        await give({ out }, (context) => exportList(context, list));
        const { size } = await onDisk(out, () => stat(out));
        if (size <= mostUploadBytes) return onDisk(out, () => readFile(out));
        throw usageError(
          'MANIFEST_TOO_LARGE',
          `The list is too large for a page: type "cqbatch export ${list} --out NAME.xlsx" in a terminal.`,
        );
      }),
  };
}

/** The list of an operation that changes fields. An operation that only acts on its entries has nothing to edit. */
function editableList({ name: operation, subject, fields, list }: Operation): readonly EditableList[] {
  const { name, computed = [] } = list ?? {};
  const edited = fields
    .map((field) => field.name)
    .filter((field) => field !== subject && list?.fields.includes(field) && !computed.includes(field));
  return name === undefined || edited.length === 0 ? [] : [{ name, operation, subject, fields: edited }];
}

function flagsOf({ map = {}, userId, operation, ...rest }: Choices): Flags {
  const pairs = Object.entries(map).map(([column, field]) => `${column}=${field}`);
  return {
    ...rest,
    ...(operation !== undefined && { operation }),
    ...(userId !== undefined && { userId }),
    ...(pairs.length > 0 && { map: pairs }),
  };
}

/** What a command prints. */
interface Printed {
  readonly document: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly warnings: string[];
}

function openPrinted(): Printed & { readonly terminal: Terminal } {
  let [document, text]: [Printed['document'], string] = [{}, ''];
  const warnings: string[] = [];
  const terminal: Terminal = {
    ...silentTerminal(),
    result(printed, shown) {
      document = { ...printed };
      text = withoutMarks(shown);
    },
    warn: (warning) => void warnings.push(withoutMarks(warning)),
  };
  return {
    terminal,
    warnings,
    get document() {
      return document;
    },
    get text() {
      return text;
    },
  };
}
