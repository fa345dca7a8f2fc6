import type { Flags } from '../../config/load.ts';
import { type Context, openContext } from '../../context.ts';
import { plain } from '../../render/style.ts';
import { silentTerminal } from '../../terminal.ts';

/** What a command has printed. */
export interface Printed {
  /** That of `--json`. */
  document: object;
  readonly messages: string[];
}

/** A context whose commands print to the agent instead of a terminal. */
export async function contextOf(
  flags: Flags,
): Promise<{ readonly context: Context; readonly printed: Printed }> {
  const printed: Printed = { document: {}, messages: [] };
  const terminal = {
    ...silentTerminal(),
    json: true,
    result(document: object) {
      printed.document = document;
    },
    warn(text: string) {
      printed.messages.push(plain(text));
    },
  };
  return { context: { ...(await openContext(flags)), terminal }, printed };
}

/** Carries out a command of the command line. @returns what it prints with `--json` */
export async function documentOfCommand(
  flags: Flags,
  command: (context: Context) => Promise<unknown>,
): Promise<object> {
  const { context, printed } = await contextOf(flags);
  await command(context);
  const { document, messages } = printed;
  return messages.length === 0 ? document : { ...document, messages };
}
