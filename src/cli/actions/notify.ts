import { randomUUID } from 'node:crypto';
import { thisActor } from '../../actor.ts';
import { openWebhook, signatureHeaders, type Webhook } from '../../api/webhook.ts';
import { withReleases } from '../../releases.ts';
import { environment, readSecret } from '../config/load.ts';
import type { Context } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type EndedRun, newsOf } from '../render/news.ts';
import { exitCodeOfError } from '../thrown.ts';

/**
 * Does what a command is for, and tells the URLs of the user how it ended. Whether they take it changes nothing of the
 * exit code.
 *
 * @param work is to hand the run that it took to its end to `context.onEnded`
 */
export function notifying(
  context: Context,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { settings, terminal } = context;
  if (settings.notifyUrl === undefined && settings.pingUrl === undefined) return work(context);
  return withReleases(async (atEnd) => {
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
    const telling = async (what: string, hook: Webhook | undefined, told: Promise<void> | undefined) =>
      told?.catch(({ message }: Error) =>
        terminal.warn(`warning: ${what} on ${hook?.host} was not told: ${message}`),
      );

    const starting = telling('--ping-url', ping, ping?.post('', { below: '/start' }));
    let run: EndedRun | undefined;
    let failure: unknown;
    let code: ExitCode;
    try {
      code = await work({
        ...context,
        onEnded(ended) {
          run = ended;
        },
      });
    } catch (error) {
      failure = error;
      code = exitCodeOfError(error);
    }
    await starting;
    const news = newsOf({ run, exitCode: code, error: failure as Error | undefined, by: thisActor() });
    const isWanted = code !== exitCodes.success || settings.notifyOn === 'always';
    const body = JSON.stringify(news);
    const headers =
      secret === undefined ? [] : signatureHeaders(secret, `msg_${randomUUID()}`, new Date(), body);
    await Promise.all([
      telling('--ping-url', ping, ping?.post(news.text, { below: `/${code}` })),
      telling('--notify-url', notify, isWanted ? notify?.post(body, { headers }) : undefined),
    ]);
    if (failure !== undefined) throw failure;
    return code;
  });
}
