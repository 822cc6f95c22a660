/** Random choices determined by a seed: the same seed makes the same choices. */
export interface Random {
  /** From 0, included, to 1, excluded. */
  next(): number;
  /** A whole number from minimum to maximum, both included. */
  whole(minimum: number, maximum: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Two different ones. */
  pair<Item>(items: readonly Item[]): [Item, Item];
  /** One of the names, chosen by weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
}

/** The generator mulberry32; a seed is any whole number. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (minimum: number, maximum: number) => minimum + Math.floor(next() * (maximum - minimum + 1));
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[whole(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick,
    pair: (items) => {
      const one = pick(items);
      return [one, pick(items.filter((item) => item !== one))];
    },
    weighted: <Name extends string>(weights: Readonly<Record<Name, number>>) => {
      const names = Object.entries<number>(weights);
      let left = next() * names.reduce((sum, [, weight]) => sum + weight, 0);
      const chosen = names.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      return (chosen?.[0] ?? names[0]?.[0]) as Name;
    },
  };
}

/** `SEED` from the environment, so that a failed run can be repeated; otherwise the given one. */
export function seedOr(fallback: number): number {
  const given = Number(process.env.SEED);
  return Number.isInteger(given) && given > 0 ? given : fallback;
}
