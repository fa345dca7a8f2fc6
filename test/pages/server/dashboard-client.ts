import type { buildServer } from '../../../src/pages/server/server.ts';

export const host = '127.0.0.1:8788';
export const origin = `http://${host}`;

/** Requests of a browser to a dashboard that does not listen. */
export function clientOf({ server, access }: Awaited<ReturnType<typeof buildServer>>) {
  const get = (url: string, headers = {}) => server.inject({ url, headers: { host, ...headers } });
  const post = (url: string, body: object, headers = {}) =>
    server.inject({ method: 'POST', url, payload: body, headers: { host, origin, ...headers } });
  /** Exchanges the token like a browser, and returns the headers of later requests. */
  const enter = async () => {
    const { headers } = await get(`/control?token=${access?.token}`);
    return { cookie: String(headers['set-cookie']).split(';')[0] };
  };
  return { get, post, enter };
}
