import { rm } from 'node:fs/promises';
import { type InputOptions, inputKind } from '../../manifest/input.ts';
import type { ReadingOptions } from '../../manifest/reading-options.ts';
import { type ScanHandlers, scanManifest } from '../../manifest/scan.ts';
import { stageManifest } from '../../manifest/stage.ts';
import { makeTemporaryFolder } from '../../owned-folder.ts';
import { escapeInvisible } from '../../printable.ts';
import { ProblemCollector } from '../../run/problem-file.ts';
import { openPlannedManifest } from '../../run/run-manifest.ts';
import { shellWord } from '../../shell-word.ts';
import type { Flags } from '../config/load.ts';
import { defaults } from '../config/settings.ts';
import { openWorkplace } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { planDocument, planText } from '../render/plan.ts';
import { isReady, verdictText } from '../render/problems.ts';
import { proxyTo } from './api-client.ts';
import { baseUrlOf, readingWords, rowOptions } from './options.ts';
import { readingManifest } from './planned-run.ts';
import { prospectOf } from './prospect.ts';

/** `cqbatch plan`: looks at every row, sends nothing. */
export async function plan(source: string, flags: Flags): Promise<ExitCode> {
  const workplace = await openWorkplace(flags);
  const { terminal, settings } = workplace;
  const { stateDir } = workplace.store;
  const baseUrl = baseUrlOf(flags, settings);
  const { allowInsecureHttp } = flags;
  const proxy = baseUrl === undefined ? undefined : proxyTo({ baseUrl, allowInsecureHttp });
  const { rate = defaults.rate } = settings;
  const prospect = await prospectOf(
    workplace,
    { ...(baseUrl !== undefined && { baseUrl }), ...(rate && { rate }) },
    proxy,
  );
  const reading = rowOptions(flags, settings);
  const planned = await readingManifest(workplace, async (input) => {
    const { path, name, dispose } = await readable(source, stateDir, input, reading);
    try {
      const { manifest, prepare } = await openPlannedManifest(path, name, reading, input);
      const problems = new ProblemCollector(stateDir, name);
      const { onConflict = defaults.onConflict } = reading;
      const handlers: ScanHandlers = {
        onInvalid: (row) => problems.add(row),
        ...(onConflict === 'refuse' && { onConflict: (conflict) => problems.addConflict(conflict) }),
      };
      const scan = await scanManifest(manifest, prepare, handlers, { onConflict });
      return {
        manifest,
        scan,
        choice: prepare.choice,
        problems: await problems.end(),
        ...prospect,
        skipInvalid: flags.skipInvalid === true,
        allowPartial: settings.allowPartial === true,
        onConflict,
      };
    } finally {
      await dispose();
    }
  });
  if (typeof planned === 'number') return planned;
  terminal.result(planDocument(planned), `${planText(planned)}\n\n${verdictText(planned)}`);
  if (!isReady(planned)) return exitCodes.usage;
  terminal.say(
    `Nothing was sent. Next: cqbatch run ${[source, ...readingWords(flags)].map(shellWord).map(escapeInvisible).join(' ')}`,
  );
  return exitCodes.success;
}

/** Standard input and pipes can be read only once, a plan may need to read twice. */
async function readable(source: string, stateDir: string, input: InputOptions, reading: ReadingOptions) {
  if (source !== '-' && (await inputKind(source, source, input)) === 'file') {
    return { path: source, name: source, dispose: async () => {} };
  }
  const folder = await makeTemporaryFolder(stateDir, 'plan');
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const { path, name } = await stageManifest(source, folder, input, reading);
    return { path, name, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
