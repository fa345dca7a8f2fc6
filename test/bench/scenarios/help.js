// @ts-check
import { cqbatch, timeCommand } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { inTurns } from '../measure/samples.js';

/**
 * How long `cqbatch --help` takes compared with Node itself.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const help = {
  name: 'help',
  async run(context) {
    const { node, ours } = await inTurns(
      context.quick ? 5 : 15,
      {
        node: async () => ({ wallMs: await timeCommand(process.execPath, ['-e', '0']) }),
        ours: async () => ({ wallMs: await timeCommand(process.execPath, [cqbatch, '--help']) }),
      },
      context,
    );
    return [
      lineAbout('wallMs', {
        title: 'cqbatch --help',
        ours,
        reference: node,
        referenceName: 'node -e 0',
        comparison: 'ratio',
        goal: { atMost: 2 },
      }),
    ];
  },
};
