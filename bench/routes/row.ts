import type { Contract, OpenContract } from '../../api/frame/route.ts';
import type { PreparedRequest } from '../load/callers.ts';
import type { Supplies } from './supplies.ts';

/** How a route is measured. */
export interface MeasuredRow {
  /** Method and path, as the route's contract has them. */
  readonly route: string;
  /** Tells apart several rows of one route. */
  readonly variant?: string;
  readonly requests: (supplies: Supplies) => Promise<readonly PreparedRequest[]>;
  /** Each request works only once, so they are made anew before each measurement, outside of it. */
  readonly once?: true;
  /** In place of the floor that method and shape suggest. */
  readonly floor?: 'transfer' | 'transfer into one account';
  /** In place of the aim of its class: the least rate, of the floor's. Null: `remark` says why it has none. */
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

/** The least rate of each class, of its floor's. */
export const AIMS: Readonly<Record<RouteClass, number>> = {
  'get by id': 0.6,
  'first page': 0.4,
  write: 0.4,
  money: 0.4,
};

/** The most CPU time of any route, of its floor's. */
export const PROCESSOR_AIM = 3;
/** The highest median latency of a payment by one caller alone, of its floor's. */
export const ALONE_AIM = 2.5;

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
