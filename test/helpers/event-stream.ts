import { onTestFinished } from 'vitest';

/** What a server has told in events of one name, each with the members that have changed. */
export interface Events<Data> {
  /** Waits until what is known matches: now, or after an event. */
  until(isWanted: (data: Data) => boolean): Promise<Data>;
}

/** Reads server-sent events, as a browser does, until the test ends. */
export async function eventsFrom<Data extends object>(url: string, name: string): Promise<Events<Data>> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const { body } = await fetch(url, { signal: controller.signal });
  if (body === null) throw new Error(`${url} has no events`);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let latest: Data | undefined;
  return {
    async until(isWanted) {
      for (;;) {
        if (latest !== undefined && isWanted(latest)) return latest;
        const end = text.indexOf('\n\n');
        if (end < 0) {
          const { value, done } = await reader.read();
          if (done) throw new Error(`${url} ended after ${JSON.stringify(latest)}`);
          text += value;
          continue;
        }
        const [event, data] = text.slice(0, end).split('\ndata: ');
        text = text.slice(end + 2);
        if (event === `event: ${name}` && data !== undefined)
          latest = { ...latest, ...(JSON.parse(data) as Data) };
      }
    },
  };
}
