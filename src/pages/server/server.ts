import { readFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyError, FastifyRequest } from 'fastify';
import { CqbatchError, usageError } from '../../base/errors/errors.ts';
import { packageRoot } from '../../base/package.ts';
import { createServer, listen } from '../../daemon/http-server.ts';
import { openScheduleStore } from '../../daemon/schedule/store.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { ControlAccess, isFromHere, type Place } from './access.ts';
import { type ControlBody, type ControlRoom, controlRun } from './control.ts';
import { openEventFeed } from './feed.ts';
import { liveReport, oneAtATime } from './live-reports.ts';
import { openOverview, reportFile, type SharedPlace } from './overview.ts';
import { controlNames, heartbeatMs, type Snapshot } from './page-data.ts';
import { dashboardPage, htmlType, spentPage } from './page-html.ts';
import { dismissRefusals } from './schedules.ts';
import { briefOf } from './start/draft.ts';
import { openDraftStore } from './start/draft-store.ts';
import type { PageCommands } from './start/page-commands.ts';
import { addStartRoutes } from './start/start-routes.ts';
import { settleAllStarted } from './start/started-draft.ts';

export interface DashboardOptions extends Place {
  /** The port of the dashboard. 0 picks a free port. */
  readonly port: number;
  readonly store: RunStore;
  readonly shared?: SharedPlace | undefined;
  /** Lets readers control runs. Absent on a read-only dashboard. */
  readonly control?: Omit<ControlRoom, 'store' | 'cluster'> | undefined;
  /** Lets readers who control runs start some, too. */
  readonly start?: StartCommands | undefined;
}

/** What starts and carries out the runs of a page. */
export interface StartCommands {
  readonly commands: PageCommands;
  /** Why started runs have to wait. Undefined while they are carried out. */
  readonly trouble: () => string | undefined;
}

type Topic = Pick<Snapshot, 'mayControl'> & { readonly run: string | undefined };

/** The policy for a report: without an origin, its scripts can't request anything from the dashboard. Its own policy applies, too. */
const reportPolicy =
  "sandbox allow-scripts allow-downloads; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const assets = {
  '/dashboard.js': 'text/javascript',
  '/dashboard.css': 'text/css',
  '/icon.svg': 'image/svg+xml',
};

const foreignRequestMessage =
  'The dashboard refuses requests from other sites. Open it by IP address, as "localhost", or by the name in --host or --public-url.\n';

function missingSession(): CqbatchError {
  return usageError(
    'SESSION_MISSING',
    'You may not control runs here. Open the address that "cqbatch dashboard --control" prints.',
  );
}

/** How long a request may arrive if it may have a file of 20 MB. */
const uploadMs = 60_000;

/** The most bytes that wait for a reader. With more, the reader has stopped reading, and is disconnected. */
const mostUnsent = 4_000_000;

/** Starts the dashboard. @throws a usage error `CANNOT_LISTEN` */
export async function startDashboard(options: DashboardOptions) {
  const { server, access } = await buildServer(options);
  const address = await listen(server, options.host, options.port);
  const url = options.publicUrl?.href ?? `http://${nameIn(address)}:${address.port}`;
  return {
    url,
    port: address.port,
    /** The address that allows its first visitor to control runs. */
    controlUrl: access && `${url.replace(/\/$/, '')}/control?token=${access.token}`,
    close: () => server.close(),
  };
}

/** The host for a URL. A server on all addresses is reached at the loopback address. */
function nameIn({ address, family }: AddressInfo): string {
  if (family === 'IPv6') return address === '::' ? '[::1]' : `[${address}]`;
  return address === '0.0.0.0' ? '127.0.0.1' : address;
}

export async function buildServer({ host, publicUrl, store, shared, control, start }: DashboardOptions) {
  const server = await createServer(start && { requestTimeout: uploadMs });
  const drafts = openDraftStore(store.stateDir);
  if (start !== undefined) {
    await drafts.removeOld();
    await settleAllStarted(drafts, store);
  }
  const overview = openOverview(store, shared);
  const access = control && new ControlAccess(publicUrl);
  const mayControl = ({ headers }: FastifyRequest): boolean => access?.hasSession(headers) === true;
  const feed = openEventFeed<Topic>(async (topics) => {
    const runs = new Set(topics.map(({ run }) => run));
    const all = await overview.read(runs);
    const reports = new Map<string | undefined, Snapshot['report']>();
    for (const run of runs) reports.set(run, await overview.report(run));
    const requireReason = control?.requireReason === true;
    const waiting = start?.trouble();
    const open =
      start === undefined ? undefined : (await drafts.list()).filter(({ run }) => run === undefined);
    return ({ run, mayControl }): Snapshot => ({
      ...all,
      warnings: waiting === undefined ? all.warnings : [...all.warnings, waiting],
      report: reports.get(run),
      mayControl,
      requireReason,
      // The names of drafts are for the readers who can start them.
      drafts: mayControl ? open?.map(briefOf) : undefined,
    });
  });
  server.addHook('onClose', async () => {
    await feed.close();
    await overview.close();
  });

  // A page of another site can post plain text without asking first.
  server.removeContentTypeParser('text/plain');
  server.addHook('onRequest', async (request, reply) => {
    if (!isFromHere(request.headers, { host, publicUrl }))
      return reply.code(403).type('text/plain; charset=utf-8').send(foreignRequestMessage);
    // Without this, the body of a request that has no answer would be read first.
    return request.is404 ? reply.callNotFound() : undefined;
  });

  // A client that has its answer must not hold its connection with the rest of a body.
  server.addHook('onSend', async ({ raw }, reply) => {
    if (reply.statusCode === 403 || !raw.complete) reply.header('connection', 'close');
  });

  server.setErrorHandler<FastifyError | CqbatchError>((error, _, reply) =>
    reply.code(statusOf(error)).send({ message: error.message }),
  );

  server.get('/', async (_, reply) => reply.type(htmlType).send(dashboardPage));
  for (const [path, type] of Object.entries(assets))
    server.get(path, async (_, reply) => {
      const content = await readFile(new URL(`dist/page${path}`, packageRoot));
      return reply.type(`${type}; charset=utf-8`).send(content);
    });

  server.get<{ Querystring: { run?: string } }>('/events', (request, reply) => {
    const { run } = request.query;
    // Without this header, nginx would collect the events and send them later, in portions.
    reply.header('x-accel-buffering', 'no').type('text/event-stream; charset=utf-8').hijack();
    const stream = reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
    stream.flushHeaders();
    const heartbeat = setInterval(() => stream.write('event: alive\ndata:\n\n'), heartbeatMs).unref();
    const stop = feed.listen({
      topic: { run: typeof run === 'string' ? run : undefined, mayControl: mayControl(request) },
      send: (changes) => {
        // A browser that was only slow reconnects after this, and gets everything again.
        if (stream.writableLength > mostUnsent) stream.destroy();
        else stream.write(`event: snapshot\ndata: ${changes}\n\n`);
      },
    });
    stream.once('close', () => {
      clearInterval(heartbeat);
      stop();
    });
  });

  server.get<{ Params: { id: string } }>('/runs/:id/report.html', async ({ params: { id } }, reply) => {
    const html = await readFile(join(store.folder(id), reportFile)).catch(() => undefined);
    if (html === undefined) return reply.code(404).send({ message: `Run ${id} has no report.html.` });
    return reply.header('content-security-policy', reportPolicy).type(htmlType).send(html);
  });

  const reportOf = oneAtATime((id) => liveReport(store, id));
  server.get<{ Params: { id: string } }>('/runs/:id/report.json', async ({ params: { id } }, reply) => {
    const json = await reportOf(id);
    return reply.type('application/json; charset=utf-8').send(json);
  });

  // A route that answers GET only: a HEAD request, such as for a link preview, must not use up the token.
  const getOnlyRoute = { exposeHeadRoute: false };
  server.get<{ Querystring: { token?: string } }>('/control', getOnlyRoute, async (request, reply) => {
    const cookie = access?.exchange(request.query.token, request.headers);
    if (cookie !== undefined) return reply.header('set-cookie', cookie).redirect('./', 303);
    // The reader has opened this address before: the session is still valid, although the token is used up.
    if (mayControl(request)) return reply.redirect('./', 303);
    return reply.code(403).type(htmlType).send(spentPage);
  });

  const refuseUnlessInControl = async (request: FastifyRequest): Promise<void> => {
    // Every browser sends the origin of a POST; the hook above has checked it.
    const isFromPage = request.method === 'GET' || request.headers.origin !== undefined;
    if (control === undefined || !mayControl(request) || !isFromPage) throw missingSession();
  };
  const guarded = { onRequest: refuseUnlessInControl };
  if (start !== undefined && control !== undefined) {
    const { requireReason } = control;
    addStartRoutes(
      server,
      { drafts, runs: store, commands: start.commands, requireReason },
      refuseUnlessInControl,
    );
  }
  const schedules = openScheduleStore(store.stateDir);
  server.post<{ Params: { name: string }; Body: { readonly until?: unknown } | null }>(
    '/schedules/:name/seen',
    guarded,
    async (request, reply) => {
      await dismissRefusals(schedules, request.params.name, request.body?.until);
      return reply.code(202).send({ asked: 'seen' });
    },
  );
  for (const what of controlNames)
    server.post<{ Params: { id: string }; Body: ControlBody | null }>(
      `/runs/:id/${what}`,
      guarded,
      async (request, reply) => {
        if (control === undefined) throw missingSession();
        const place = { store, cluster: shared?.cluster, ...control };
        await controlRun(place, request.params.id, what, request.body ?? {});
        return reply.code(202).send({ asked: what });
      },
    );

  return { server, access };
}

function statusOf(error: FastifyError | CqbatchError): number {
  if (!(error instanceof CqbatchError)) return error.statusCode ?? 500;
  // An error that is not the user's comes from the disk or the datastore: the request may succeed later.
  return error.kind === 'usage' ? (usageStatuses[error.code] ?? 400) : 503;
}

const usageStatuses: Readonly<Record<string, number>> = {
  SESSION_MISSING: 403,
  RUN_UNKNOWN: 404,
  SCHEDULE_UNKNOWN: 404,
  DRAFT_UNKNOWN: 404,
  RUN_STATE: 409,
  MANIFEST_TOO_LARGE: 413,
};
