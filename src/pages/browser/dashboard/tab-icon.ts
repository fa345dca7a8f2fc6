/** What the icon of the tab shows. */
export interface TabSigns {
  /** The share of finished rows, from 0 to 1. Undefined while no run is in progress. */
  readonly done: number | undefined;
  /** Whether something needs a person. */
  readonly needsPerson: boolean;
  /** Whether the dashboard does not answer. */
  readonly isStale: boolean;
}

const circumference = 2 * Math.PI * 12;

/** The icon of the tab, as an address: a ring for progress, a red dot for what needs a person, gray when the page is out of date. */
export function tabIcon({ done, needsPerson, isStale }: TabSigns): string {
  const color = isStale ? '#7d8790' : '#0b5cad';
  const ring =
    done === undefined
      ? '<path d="m9 17 5 5 9-12" stroke="#7ee29a" stroke-width="4" fill="none"/>'
      : `<circle cx="16" cy="16" r="12" stroke="#fff" stroke-opacity=".3" stroke-width="5" fill="none"/><circle cx="16" cy="16" r="12" stroke="#7ee29a" stroke-width="5" fill="none" stroke-dasharray="${(done * circumference).toFixed(1)} 99" transform="rotate(-90 16 16)"/>`;
  const dot = needsPerson
    ? '<circle cx="25" cy="25" r="7" fill="#e5484d" stroke="#fff" stroke-width="2"/>'
    : '';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${color}"/>${ring}${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
