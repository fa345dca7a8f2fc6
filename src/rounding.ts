/** To two decimals: what people and programs read of a rate. */
export function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
