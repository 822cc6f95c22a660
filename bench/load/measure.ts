import type { Callers, LoadCommand, LoadResult, PreparedRequest } from './callers.ts';
import { processorTimeMs } from './processor-time.ts';

/** One of the subjects that a case compares. */
export interface Contender {
  readonly name: string;
  readonly load: Omit<LoadCommand, 'callers' | 'seconds'>;
  /** Makes new requests before each measurement, outside of it. */
  readonly prepare?: () => Promise<readonly PreparedRequest[]>;
  /** Operations per request; 1 by default. */
  readonly operations?: number;
  /** Processes whose CPU time counts for an operation: the server and Postgres. */
  readonly processIds: readonly number[];
}

export interface Measurement {
  readonly case: string;
  readonly contender: string;
  readonly callers: number;
  readonly perSecond: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** CPU milliseconds per operation. */
  readonly processorMs: number | null;
}

type Sample = LoadResult & { readonly processorMs: number };

/** Runs the contenders in turns, so that disturbances affect all alike; returns the medians of the rounds. */
export async function compare(
  name: string,
  contenders: readonly Contender[],
  run: {
    readonly callers: Callers;
    readonly counts: readonly number[];
    readonly seconds: number;
    readonly rounds: number;
  },
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  const warmUp = { callers: Math.max(...run.counts), seconds: run.seconds };
  for (const contender of contenders) await sample(contender, run.callers, warmUp);
  for (const count of run.counts) {
    const samples = new Map<Contender, Sample[]>(contenders.map((contender) => [contender, []]));
    for (let round = 0; round < run.rounds; round += 1) {
      for (const contender of contenders) {
        const taken = await sample(contender, run.callers, { callers: count, seconds: run.seconds });
        samples.get(contender)?.push(taken);
      }
    }
    for (const [contender, taken] of samples) {
      const of = { case: name, contender: contender.name, callers: count };
      const measured = taken.map(({ elapsedMs, ...one }) => ({
        ...of,
        ...one,
        perSecond: one.count / (elapsedMs / 1000),
      }));
      measurements.push(medianMeasurement(measured));
    }
  }
  return measurements;
}

/** As `compare`, but each contender has its own number of callers, and optionally another load at the same time. */
export async function measureInTurns(
  name: string,
  subjects: readonly {
    readonly contender: Contender;
    readonly extent: Extent;
    readonly otherLoad?: () => Promise<unknown>;
  }[],
  run: { readonly callers: Callers; readonly rounds: number },
): Promise<Measurement[]> {
  const rounds = subjects.map((): Measurement[] => []);
  for (let round = -1; round < run.rounds; round += 1) {
    for (const [index, { contender, extent, otherLoad }] of subjects.entries()) {
      const otherRun = otherLoad?.();
      const { elapsedMs, ...one } = await sample(contender, run.callers, extent);
      await otherRun;
      const perSecond = (one.count / elapsedMs) * 1000;
      // The first round warms up.
      if (round >= 0) rounds[index]?.push({ case: name, contender: contender.name, ...extent, ...one, perSecond });
    }
  }
  return rounds.map(medianMeasurement);
}

interface Extent {
  readonly callers: number;
  readonly seconds: number;
}

async function sample(contender: Contender, callers: Callers, extent: Extent): Promise<Sample> {
  const requests = (await contender.prepare?.()) ?? contender.load.requests;
  const beforeMs = processorTimeMs(contender.processIds);
  const result = await callers.run({ ...contender.load, requests, ...extent });
  const count = result.count * (contender.operations ?? 1);
  const processorMs = (processorTimeMs(contender.processIds) - beforeMs) / Math.max(1, count);
  return { ...result, count, processorMs };
}

/** The medians of one contender's rounds. */
export function medianMeasurement(rounds: readonly Measurement[]): Measurement {
  const [first] = rounds;
  if (first === undefined) throw new Error('a bench needs a round');
  const of = (value: (round: Measurement) => number | null): number | null => {
    const values = rounds.map(value);
    return values.includes(null) ? null : median(values.filter((one) => one !== null));
  };
  return {
    case: first.case,
    contender: first.contender,
    callers: first.callers,
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    processorMs: of(({ processorMs }) => processorMs),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
