import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { CqbatchError, usageError } from '../../errors.ts';
import { parseJson, stringifyJson } from '../../text/json.ts';
import { readSwitchChanges } from '../options/options.ts';
import { type SandboxControl, stateKinds } from './control.ts';

/** Where the admin side is: outside the service's paths, so it is in no log and has no token, limit or fault. */
export const adminPrefix = '/sandbox';

/** The admin side as a Fastify plugin; docs/sandbox.md describes each path. */
export function adminRoutes(control: SandboxControl) {
  return async (server: FastifyInstance): Promise<void> => {
    server.get('/log', ({ query }, reply) => {
      const { after } = check(logQuery, query);
      return sendLines(reply, control.log(after));
    });

    server.get('/state', ({ query }, reply) => {
      const { kind, changed, id } = check(stateQuery, query);
      return sendLines(reply, control.state({ changed, ...(kind && { kind }), ...(id && { ids: id }) }));
    });

    server.get('/stats', async ({ query }, reply) => {
      const { requests } = check(statsQuery, query);
      await control.whenRequests(requests);
      return sendJson(reply, control.stats());
    });

    server.post('/configure', ({ body }, reply) =>
      sendJson(reply, control.configure(readSwitchChanges(readBody(body)))),
    );

    server.post('/token', ({ body }, reply) => {
      control.setToken(check(tokenBody, readBody(body)).token);
      return sendJson(reply, {});
    });

    server.post('/reset', (_, reply) => {
      control.reset();
      return sendJson(reply, {});
    });

    server.setNotFoundHandler((request, reply) =>
      sendJson(reply.code(404), { error: `there is nothing at ${request.method} ${request.url}` }),
    );
    server.setErrorHandler((error, _, reply) => {
      const status = error instanceof CqbatchError ? 400 : 500;
      return sendJson(reply.code(status), { error: error instanceof Error ? error.message : String(error) });
    });
  };
}

const count = z.coerce.number().int().min(0).default(0);
const logQuery = z.strictObject({ after: count });
const statsQuery = z.strictObject({ requests: count });
const stateQuery = z.strictObject({
  kind: z.enum(stateKinds).optional(),
  changed: z.stringbool().default(false),
  id: z
    .union([z.string(), z.array(z.string())])
    .transform((id) => [id].flat())
    .optional(),
});
const tokenBody = z.strictObject({ token: z.string().nullable() });

/** Checks a query or a body of the admin side. */
function check<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw usageError('INVALID_OPTION', [...(issue?.path ?? []), issue?.message].join(': '), error);
}

/** A body is JSON whatever its content type; none stands for `{}`. */
function readBody(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return {};
  try {
    return parseJson(body.toString('utf8'));
  } catch (cause) {
    throw usageError('INVALID_OPTION', `the body is not JSON: ${cause}`, cause);
  }
}

function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json').send(`${stringifyJson(value)}\n`);
}

function sendLines(reply: FastifyReply, values: Iterable<unknown>): FastifyReply {
  return reply.type('application/x-ndjson').send(Readable.from(chunks(values)));
}

/** JSON Lines in pieces of some size, as one piece a line would be slow. */
function* chunks(values: Iterable<unknown>): Generator<string> {
  let chunk = '';
  for (const value of values) {
    chunk += `${stringifyJson(value)}\n`;
    if (chunk.length > 65_536) {
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}
