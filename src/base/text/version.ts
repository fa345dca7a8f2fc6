/** Compares versions such as `7.0.15`. A comparison by locale would first load its tables, for 7 ms. */
export function isAtLeast(version: string, least: string): boolean {
  const numbers = numbersOf(version);
  for (const [index, part] of numbersOf(least).entries()) {
    const number = numbers[index] ?? 0;
    if (number !== part) return number > part;
  }
  return true;
}

/** The numbers, without what follows one: that of `0-rc1` is 0. */
function numbersOf(version: string): readonly number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10));
}
