// @ts-check
import { existsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeManifest } from '../manifest.js';
import { cqbatch } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { withLocalApi } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';
import { measureCommand } from '../measure/usage.js';

const file = fileURLToPath(new URL(`../../../dist/cqbatch-linux-${process.arch}`, import.meta.url));

/**
 * The one executable beside the same Node with the package: size, start and peak memory.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const executable = {
  name: 'executable',
  async run(context) {
    const { quick, folder, say } = context;
    if (!existsSync(file)) {
      say('  skipped: type "npm run executable" first');
      return [];
    }
    const manifest = await writeManifest(folder, 2);
    const cache = join(folder, 'cache');
    const usageFile = join(folder, 'usage.json');
    const env = { CQBATCH_TOKEN: 'benchmark', XDG_CACHE_HOME: cache };
    const ours = (/** @type {readonly string[]} */ ...args) => measureCommand(file, args, { usageFile, env });
    const node = (/** @type {readonly string[]} */ ...args) =>
      measureCommand(process.execPath, [cqbatch, ...args], { usageFile, env });

    const samples = await withLocalApi(0, ({ url }) => {
      const state = ['--quiet', '--state-dir', join(folder, 'state')];
      const run = ['run', manifest, '--yes', '--base-url', url, ...state];
      return inTurns(
        quick ? 2 : 9,
        {
          'first start': async () => {
            await rm(cache, { recursive: true, force: true });
            return ours('--help');
          },
          'node --help': () => node('--help'),
          '--help': () => ours('--help'),
          'node run': () => node(...run),
          run: () => ours(...run),
          'node status': () => node('status', ...state),
          status: () => ours('status', ...state),
        },
        context,
      );
    });
    const beside = (/** @type {'--help' | 'run' | 'status'} */ command) => ({
      ours: samples[command],
      reference: samples[`node ${command}`],
      referenceName: 'Node with the package',
      comparison: /** @type {const} */ ('ratio'),
    });
    const goal = { atMost: 1.5 };
    const sizes = [file, process.execPath].map((path) => [{ sizeMb: statSync(path).size / 1e6 }]);
    return [
      lineAbout('sizeMb', {
        title: 'the executable: size',
        ours: sizes[0] ?? [],
        reference: sizes[1] ?? [],
        referenceName: 'Node',
        comparison: 'value',
        goal: { atMost: 150 },
      }),
      lineAbout('wallMs', {
        ...beside('--help'),
        title: 'the executable: first --help, which unpacks',
        ours: samples['first start'],
      }),
      lineAbout('wallMs', { ...beside('--help'), title: 'the executable: --help', goal }),
      lineAbout('wallMs', { ...beside('status'), title: 'the executable: status', goal }),
      lineAbout('wallMs', { ...beside('run'), title: 'the executable: embedded run of two rows', goal }),
      lineAbout('peakMb', { ...beside('run'), title: 'the executable: the same, peak memory' }),
    ];
  },
};
