/** A screen without room for columns, such as that of a phone. Style sheets have the same query. */
const narrow = matchMedia('(max-width: 600px)');
const paper = matchMedia('print');

export function isNarrowScreen(): boolean {
  return narrow.matches;
}

/** Calls back when the screen has become narrow, or wide. Paper is no screen: its width changes nothing. */
export function onNarrowScreen(change: () => void, signal: AbortSignal): void {
  const changed = (): void => {
    if (!paper.matches) change();
  };
  narrow.addEventListener('change', changed, { signal });
}
