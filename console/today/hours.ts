import type { Reader } from '../../db/query/database.ts';
import { type HourlySum, readHourlySums } from '../../db/transfers/hourly-sums.ts';

export const HOUR_MS = 3_600_000;
/** A transaction that began before the hour ended may still commit. */
const SETTLED_MS = HOUR_MS / 6;
/** Past hours never change: this process reads each of them once. */
const KEPT_HOURS = 400;
/** Hours that one statement reads. */
const HOURS_TOGETHER = 6;
/** A page reads no further back after so many payments: the next one goes on. */
const PAYMENTS_MAX = 50_000;

export type Sums = readonly HourlySum[];

/** The sums of past hours, and of the present one as it is. */
export class Hours {
  readonly #past = new Map<number, Sums>();

  /** The sums of each of these hours, the newest first; hours of a busy service may not have been read yet. */
  async read(reader: Reader, now: Date, hours: readonly number[]): Promise<ReadonlyMap<number, Sums>> {
    const found = new Map<number, Sums>();
    const missing: number[] = [];
    for (const hour of hours) {
      const known = this.#past.get(hour);
      if (known === undefined) missing.push(hour);
      else found.set(hour, known);
    }
    let payments = 0;
    for (const together of groupsOf(missing)) {
      if (payments > PAYMENTS_MAX) break;
      const [newest = 0, oldest = newest] = [together[0], together.at(-1)];
      const sums = await readHourlySums(reader, new Date(oldest), new Date(newest + HOUR_MS));
      for (const hour of together) {
        const own = sums.filter((sum) => sum.hour.getTime() === hour);
        found.set(hour, own);
        if (now.getTime() - (hour + HOUR_MS) > SETTLED_MS) this.#past.set(hour, own);
      }
      payments += sums.reduce((sum, one) => sum + one.count, 0);
    }
    for (const oldest of this.#past.keys()) {
      if (this.#past.size <= KEPT_HOURS) break;
      this.#past.delete(oldest);
    }
    return found;
  }
}

/** Neighbours together, so that few statements read them. */
function groupsOf(hours: readonly number[]): readonly (readonly number[])[] {
  const groups: number[][] = [];
  for (const hour of hours) {
    const group = groups.at(-1);
    if (group !== undefined && group.at(-1) === hour + HOUR_MS && group.length < HOURS_TOGETHER) group.push(hour);
    else groups.push([hour]);
  }
  return groups;
}
