/**
 * `npm run test:long` runs the files that import this once more, in full: more seeds, more cases, every fault of a table. `npm test`
 * shows the same guarantees with a part of them.
 */
export const inFull = process.env.TEST_LENGTH === 'long';

export function shortOrLong<Value>(short: Value, long: Value): Value {
  return inFull ? long : short;
}

/** Of a table of like rows `npm test` takes one in so many, the first among them, and `npm run test:long` the others. */
export function oneIn<Row>(many: number, rows: readonly Row[]): readonly Row[] {
  return rows.filter((_, index) => inFull !== (index % many === 0));
}
