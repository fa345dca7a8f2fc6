// @ts-check
import { cqbatch, timeCommand } from '../measure/child.js';
import { inTurns } from '../measure/samples.js';

/**
 * How long `cqbatch --help` takes beside Node itself.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const help = {
  name: 'help',
  async run({ quick, say }) {
    const { node, ours } = await inTurns(
      quick ? 5 : 15,
      {
        node: () => timeCommand(process.execPath, ['-e', '0']),
        ours: () => timeCommand(process.execPath, [cqbatch, '--help']),
      },
      say,
    );
    return [
      {
        title: 'cqbatch --help',
        unit: 'ms',
        ours,
        reference: node,
        referenceName: 'node -e 0',
        comparison: 'ratio',
        goal: { atMost: 2.5 },
      },
    ];
  },
};
