import { randomUUID } from 'node:crypto';
import { thisActor } from '../../../actor.ts';
import { openWebhook, signatureHeaders, type Webhook } from '../../../index.ts';
import type { AtEnd } from '../../../releases.ts';
import { environment, readSecret } from '../../config/load.ts';
import type { CommandInput } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { bodyFor, type EndedRun, newsOf } from '../../render/ended-run.ts';

/** Notifies the user's URLs of start and end. Failures only cause warnings. */
export interface Notifier {
  started(): Promise<void>;
  ended(ended: {
    readonly run?: EndedRun | undefined;
    readonly exitCode: ExitCode;
    readonly error?: Error | undefined;
  }): Promise<void>;
}

export async function openNotifier(
  { settings, terminal }: Pick<CommandInput, 'settings' | 'terminal'>,
  atEnd: AtEnd,
): Promise<Notifier> {
  const open = (what: string, url: string | undefined): Webhook | undefined => {
    const hook = url === undefined ? undefined : openWebhook(what, url, { variables: environment });
    atEnd(() => hook?.close());
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
    async ended({ run, exitCode, error }) {
      const all = { run, exitCode, error, by: thisActor() };
      const isWanted = exitCode !== exitCodes.success || settings.notifyOn === 'always';
      const body = bodyFor(notify?.host ?? '', all);
      const headers =
        secret === undefined ? [] : signatureHeaders(secret, `msg_${randomUUID()}`, new Date(), body);
      await Promise.all([
        telling('--ping-url', ping, ping?.post(newsOf(all).text, { below: `/${exitCode}` })),
        telling('--notify-url', notify, isWanted ? notify?.post(body, { headers }) : undefined),
      ]);
    },
  };
}
