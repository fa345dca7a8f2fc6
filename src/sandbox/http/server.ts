import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { SandboxControl } from '../admin/control.ts';
import { adminPrefix, adminRoutes } from '../admin/routes.ts';
import { restoreEvaluation, updateSoundboard } from '../service/operations.ts';
import type { Service, ServiceReaction } from '../service/service.ts';
import { deliver } from './deliver.ts';

/** The HTTP server of a service and of its admin side, not listening yet. */
export function createServer(
  service: Service,
  control: SandboxControl,
  { maxBody }: { readonly maxBody: number },
): FastifyInstance {
  const server = fastify({
    bodyLimit: maxBody,
    forceCloseConnections: true,
    frameworkErrors: (_, request, reply) =>
      answer(reply, service.reactToUnknownPath(request.method, request.url)),
  });
  // The service judges bodies and content types itself, so that the log has every request.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));

  for (const endpoint of [restoreEvaluation, updateSoundboard]) {
    server.route({
      method: server.supportedMethods,
      url: endpoint.path,
      exposeHeadRoute: false,
      handler: ({ method, url, headers, body }, reply) =>
        answer(
          reply,
          service.react({
            endpoint,
            method,
            url,
            authorization: headers.authorization,
            contentType: headers['content-type'],
            body: Buffer.isBuffer(body) ? body : noBody,
          }),
        ),
      errorHandler: ({ statusCode = 500, message }, _, reply) =>
        answer(reply, service.reactToUnreadable(endpoint.operation, statusCode, message)),
    });
  }
  server.setNotFoundHandler((request, reply) =>
    answer(reply, service.reactToUnknownPath(request.method, request.url)),
  );
  server.register(adminRoutes(control), { prefix: adminPrefix });
  return server;
}

const noBody = Buffer.alloc(0);

/** Takes the answer out of Fastify's hands: faults need the bare connection. */
function answer(reply: FastifyReply, reaction: ServiceReaction): void {
  reply.hijack();
  deliver(reply.raw, reaction);
}
