import type { Contract, OpenContract } from '../../api/http/route.ts';
import type { PreparedRequest } from '../load/callers.ts';
import type { Fixtures } from './fixtures.ts';

/** How a route is measured. */
export interface MeasuredRow {
  /** Method and path, as the route's contract has them. */
  readonly route: string;
  /** Distinguishes several rows of one route. */
  readonly variant?: string;
  readonly requests: (fixtures: Fixtures) => Promise<readonly PreparedRequest[]>;
  /** Each request works only once, so new ones are made before each measurement, outside of it. */
  readonly once?: true;
  /** Overrides the floor that method and shape suggest. */
  readonly floor?: 'transfer' | 'transfer into one account';
  /** Overrides the aim of its class: the least rate, relative to the floor. Null: no aim, for the reason in `remark`. */
  readonly aim?: number | null;
  readonly remark?: string;
}

export interface UnmeasuredRow {
  readonly route: string;
  /** Why it is not measured. */
  readonly notMeasured: string;
}

export type RouteRow = MeasuredRow | UnmeasuredRow;

export type RouteClass = 'get by id' | 'first page' | 'write' | 'money';

/** The least rate of each class, relative to its floor. */
export const AIMS: Readonly<Record<RouteClass, number>> = {
  'get by id': 0.6,
  'first page': 0.4,
  write: 0.4,
  money: 0.4,
};

/** The most CPU time of any route, relative to its floor. */
export const PROCESSOR_AIM = 3;
/** The highest median latency of a payment with a single caller, relative to its floor. */
export const SINGLE_CALLER_AIM = 2.5;

export function nameOf({ method, path }: Pick<OpenContract, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

export function classOf(contract: Pick<Contract, 'method' | 'paged'>, row: MeasuredRow): RouteClass {
  if (row.floor !== undefined) return 'money';
  if (contract.method !== 'GET') return 'write';
  return contract.paged === true ? 'first page' : 'get by id';
}

export function titleOf({ route, variant }: MeasuredRow): string {
  return variant === undefined ? route : `${route}, ${variant}`;
}

/** A request with the envelope of a write. */
export function write(path: string, code: string, data: unknown, connect?: unknown): PreparedRequest {
  return { path, body: JSON.stringify({ workflow: { code }, data, ...(connect === undefined ? {} : { connect }) }) };
}
