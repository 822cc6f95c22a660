/** More holders than any account has: beyond them no match is full. */
const NAMES_MAX = 6;

/** Whether each of the asked can be given one of the held that fits, and no two the same: a name said twice is two people. */
export function eachHasItsOwn<Asked, Held>(
  asked: readonly Asked[],
  held: readonly Held[],
  fits: (one: Asked, other: Held) => boolean,
): boolean {
  if (asked.length > held.length || held.length > NAMES_MAX) return false;
  const [first, ...rest] = asked;
  if (first === undefined) return true;
  return held.some((candidate, index) => fits(first, candidate) && eachHasItsOwn(rest, held.toSpliced(index, 1), fits));
}
