import { localTime, timeAgo, timeAhead } from '../../base/text/local-time.ts';
import { type Markup, markup } from '../../engine/report/html/markup.ts';

/** A time as its distance from now; its title has the exact one, as paper does. */
export function timeMarkup(time: string, now = new Date()): Markup {
  const date = new Date(time);
  const text = date > now ? timeAhead(date, now) : timeAgo(date, now);
  return markup('time', { datetime: time, title: localTime(time) }, text);
}
