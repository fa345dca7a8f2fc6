/**
 * The cells of a row by column name. Has no inherited names, so that an absent column called `constructor` is
 * `undefined`, and is much faster than an `Object.create(null)`.
 */
export class Cells {
  [column: string]: unknown;
}
Object.setPrototypeOf(Cells.prototype, null);
Reflect.deleteProperty(Cells.prototype, 'constructor');
