/** More holders than any account has; longer lists never match fully. */
const NAMES_MAX = 6;

/**
 * Whether each requested name can be paired with a different holder that fits. A name listed twice means two people.
 */
export function canBePaired<Asked, Held>(
  asked: readonly Asked[],
  held: readonly Held[],
  fits: (one: Asked, other: Held) => boolean,
): boolean {
  if (asked.length > held.length || held.length > NAMES_MAX) return false;
  const [first, ...rest] = asked;
  if (first === undefined) return true;
  return held.some((candidate, index) => fits(first, candidate) && canBePaired(rest, held.toSpliced(index, 1), fits));
}
