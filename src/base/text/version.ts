/** A comparison by locale would first load its tables. */
export function isAtLeast(version: string, least: string): boolean {
  const numbers = numbersOf(version);
  for (const [index, part] of numbersOf(least).entries()) {
    const number = numbers[index] ?? 0;
    if (number !== part) return number > part;
  }
  return true;
}

/** A part counts as its leading digits: `0-rc1` is 0. */
function numbersOf(version: string): readonly number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10));
}
