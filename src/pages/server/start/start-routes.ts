import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { fileNames, runIds } from '../../../domain/names.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { dashboardReason } from '../control.ts';
import type { Choices, Draft } from './draft.ts';
import { choicesSchema } from './draft-schema.ts';
import type { DraftStore } from './draft-store.ts';
import type { PageCommands } from './page-commands.ts';
import { settledIfStarted } from './started-draft.ts';

export interface StartRoom {
  readonly drafts: DraftStore;
  readonly runs: Pick<RunStore, 'look'>;
  readonly commands: PageCommands;
  readonly requireReason: boolean;
}

/** The most files that are received at once. More would fill the disk before one of them is refused. */
const mostUploads = 4;
/** A plan of many choices is smaller. */
const mostBodyBytes = 100_000;

interface OfDraft {
  Params: { id: string };
}

interface WithBody {
  Body: Readonly<Record<string, unknown>> | null;
}

/** Adds the requests with which a page prepares and starts runs. `guard` refuses readers that may not control runs. */
export function addStartRoutes(
  server: FastifyInstance,
  { drafts, runs, commands, requireReason }: StartRoom,
  guard: (request: FastifyRequest) => Promise<void>,
): void {
  let uploads = 0;

  const planDraft = (id: string, choices: Choices): Promise<Draft> =>
    drafts.alone(id, async (found) => {
      const { planned: _, refusal: __, ...draft } = await settledIfStarted(found, drafts, runs);
      if (draft.run !== undefined) return draft;
      const chosen = await drafts.save({ ...draft, choices });
      const output = drafts.output(chosen);
      const { source } = chosen;
      try {
        const planned =
          source.kind === 'file'
            ? await commands.planManifest({ path: drafts.manifestPath(id), ...source }, choices, output)
            : await commands.planAgain(source.kind, source.run, choices, output);
        return await drafts.save({ ...chosen, planned });
      } catch (error) {
        if (!(error instanceof CqbatchError) || error.kind !== 'usage') throw error;
        const { code, message } = error;
        return drafts.save({ ...chosen, refusal: { code, message } });
      }
    });

  const startDraft = (id: string, body: Readonly<Record<string, unknown>>): Promise<Draft> =>
    drafts.alone(id, async (found) => {
      const draft = await settledIfStarted(found, drafts, runs);
      const { planned, run } = draft;
      if (run !== undefined) return draft;
      if (planned?.plan_sha256 === undefined)
        throw usageError('PLAN_MISSING', 'There is no plan that can be started: plan the rows again.');
      if (body['sha256'] !== planned.plan_sha256)
        throw usageError(
          'PLAN_DIFFERS',
          'The plan was made again since this page showed it: look at the new plan.',
        );
      if (body['confirm'] !== planned.callable)
        throw usageError(
          'CONSENT_MISSING',
          `To start the run, type the number of its calls: ${planned.callable}.`,
        );
      const wishes = { reason: reasonIn(body), tenFirst: body['ten_first'] !== false };
      const { plan: path } = drafts.output(draft);
      return drafts.settle(draft, await commands.submit({ path, sha256: planned.plan_sha256 }, wishes));
    });

  const reasonIn = ({ reason }: Readonly<Record<string, unknown>>): string =>
    dashboardReason(reason, requireReason);

  server.register(async (scope) => {
    scope.addHook('onRequest', guard);
    const post = { bodyLimit: mostBodyBytes };

    scope.get('/start.json', async () => commands.offer());

    scope.register(async (files) => {
      // A file is the only body here, whatever is in it.
      files.removeAllContentTypeParsers();
      files.addContentTypeParser('application/octet-stream', (_, payload, done) => done(null, payload));
      files.post<{ Querystring: { name?: string } }>('/drafts', async (request, reply) => {
        const name = fileNames.require(String(request.query.name ?? ''));
        if (name.length > 200)
          throw usageError('INVALID_SETTING', 'The name of the file is longer than 200 characters.');
        if (uploads >= mostUploads)
          throw usageError(
            'TOO_MANY_UPLOADS',
            `${mostUploads} files are being received: try again in a moment.`,
          );
        uploads += 1;
        try {
          const content = request.body as AsyncIterable<Buffer> | null;
          return reply.code(201).send(await drafts.receive(name, content ?? noContent()));
        } finally {
          uploads -= 1;
        }
      });
    });
    scope.get<OfDraft>('/drafts/:id', async ({ params }) => drafts.load(params.id));
    scope.get<OfDraft>('/drafts/:id/plan.html', async ({ params }, reply) => {
      const draft = await drafts.load(params.id);
      const html = await readFile(drafts.output(draft).page, 'utf8').catch(() => undefined);
      if (html === undefined) throw usageError('PLAN_MISSING', 'There is no plan yet: plan the rows again.');
      return reply.type('text/plain; charset=utf-8').send(html);
    });
    scope.post<OfDraft & WithBody>('/drafts/:id/plan', post, async ({ params, body }) =>
      planDraft(params.id, choicesIn(body)),
    );
    scope.post<OfDraft & WithBody>('/drafts/:id/start', async ({ params, body }) =>
      startDraft(params.id, body ?? {}),
    );
    scope.post<OfDraft>('/drafts/:id/discard', async ({ params }) => {
      await drafts.remove(params.id);
      return {};
    });

    for (const kind of ['retry', 'undo'] as const)
      scope.post<OfDraft & WithBody>(`/runs/:id/${kind}`, async ({ params, body }, reply) => {
        const choices = choicesIn(body);
        const { id } = await drafts.ofRun(kind, runIds.require(params.id));
        try {
          const draft = await planDraft(id, choices);
          if (draft.refusal !== undefined) throw usageError(draft.refusal.code, draft.refusal.message);
          return reply.code(201).send(draft);
        } catch (error) {
          // The page of the run says why. A draft without a plan has nothing that the run does not have.
          await drafts.remove(id);
          throw error;
        }
      });
    scope.post<OfDraft & WithBody>('/runs/:id/resume', async ({ params, body }, reply) => {
      await commands.resume(runIds.require(params.id), reasonIn(body ?? {}));
      return reply.code(202).send({ asked: 'resume' });
    });
    scope.post<OfDraft>('/runs/:id/check', async ({ params }) => ({
      text: await commands.check(runIds.require(params.id)),
    }));
    scope.post<{ Params: { list: string } }>('/lists/:list', async ({ params }, reply) => {
      const lines = await commands.entries(params.list);
      return reply.type('application/jsonl; charset=utf-8').send(lines);
    });
  });
}

async function* noContent(): AsyncGenerator<Buffer> {}

function choicesIn(body: unknown): Choices {
  const { data, error } = choicesSchema.safeParse(body ?? {});
  if (data !== undefined) return data;
  throw usageError('INVALID_SETTING', `The choices can't be used: ${error.message}`);
}
