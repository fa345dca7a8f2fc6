import { randomUUID } from 'node:crypto';
import type { Defer } from '../../../base/async/scope.ts';
import { thisActor } from '../../../domain/actor.ts';
import { openWebhook, signatureHeaders, type Webhook } from '../../../engine/api/webhook.ts';
import { endOf } from '../../../engine/run/record/record.ts';
import { environment, readSecret } from '../../config/load.ts';
import type { CommandInput } from '../../context.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../../exit-codes.ts';
import { bodyFor, type Ended, type EndedRun, newsOf } from '../../render/ended-run.ts';

/** Notifies the user's URLs of start and end. Failures only cause warnings. */
export interface Notifier {
  started(): Promise<void>;
  /** @param exitCode of the command, which ends well when it finds a run that ended earlier, even with failures */
  ended(ended: Omit<Ended, 'by' | 'exitCode'> & { readonly exitCode: ExitCode }): Promise<void>;
}

export async function openNotifier(
  { settings, terminal }: Pick<CommandInput, 'settings' | 'terminal'>,
  defer: Defer,
): Promise<Notifier> {
  const open = (what: string, url: string | undefined): Webhook | undefined => {
    const hook = url === undefined ? undefined : openWebhook(what, url, { variables: environment });
    defer(() => hook?.close());
    return hook;
  };
  const notify = open('--notify-url', settings.notifyUrl);
  const ping = open('--ping-url', settings.pingUrl);
  const secret = await readSecret({
    file: settings.notifySecretFile,
    variable: 'CQBATCH_NOTIFY_SECRET',
    what: 'the secret in',
    code: 'NOTIFY_SECRET_UNREADABLE',
  });
  const telling = async (what: string, hook?: Webhook, told?: Promise<void>): Promise<void> =>
    told?.catch(({ message }: Error) =>
      terminal.warn(`warning: ${what} on ${hook?.host} was not notified: ${message}`),
    );
  return {
    started: () => telling('--ping-url', ping, ping?.post('', { below: '/start' })),
    async ended({ exitCode, ...told }) {
      const all = { ...told, exitCode: codeOf(exitCode, told.run), by: thisActor() };
      const isWanted = exitCode !== exitCodes.success || settings.notifyOn === 'always';
      const body = bodyFor(notify?.host ?? '', all);
      const headers =
        secret === undefined ? [] : signatureHeaders(secret, `msg_${randomUUID()}`, new Date(), body);
      await Promise.all([
        telling('--ping-url', ping, ping?.post(newsOf(all).text, { below: `/${all.exitCode}` })),
        telling('--notify-url', notify, isWanted ? notify?.post(body, { headers }) : undefined),
      ]);
    },
  };
}

/** What the run ended with, if the command did not fail otherwise. */
function codeOf(exitCode: ExitCode, run: EndedRun | undefined): ExitCode {
  if (exitCode !== exitCodes.success || run === undefined) return exitCode;
  return exitCodeOf(endOf(run.record), run.summary.outcomes);
}
