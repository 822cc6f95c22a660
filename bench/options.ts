import { parseArgs } from 'node:util';

/** The cases that run without `--only`. */
const USUAL_CASES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
/** All cases. The others are excluded by default: loading takes minutes, and `routes` stops Temporal. */
const CASES = [
  ...USUAL_CASES,
  'g',
  'batches',
  'ledger-check',
  'admissions',
  'exports',
  'issuing',
  'scheduled',
  'consents',
  'unit-costs',
  'traces',
  'routes',
] as const;
export type CaseName = (typeof CASES)[number];

export interface BenchOptions {
  readonly only: ReadonlySet<CaseName>;
  /** Duration of one measurement. */
  readonly seconds: number;
  readonly rounds: number;
  readonly callers: readonly number[];
  readonly largeRows: number;
  /** For the case ledger-check. */
  readonly postings: number;
  /** For the case exports. */
  readonly entries: number;
  /** For the case scheduled: how many transfers wait for the same minute. */
  readonly scheduled: number;
  /** For the case consents: how many expire at the same instant. */
  readonly consents: number;
  /** For the case routes: the titles of the rows to measure. */
  readonly routes: RegExp;
}

/** `routes` has many rows, each with many short rounds, so that a disturbance affects few of them. */
const ROUTES_DEFAULTS = { seconds: '0.4', rounds: '5', callers: '16' };
const DEFAULTS = { seconds: '1', rounds: '3', callers: '1,16,32' };

const USAGE =
  'npm run bench -- [--only a,b,c,d,e,f,g,batches,ledger-check,admissions,exports,issuing,scheduled,consents,unit-costs,traces] [--seconds 1] [--rounds 3] [--callers 1,16,32] [--large-rows 1000000] [--postings 3000000] [--entries 1000000] [--scheduled 50000] [--consents 5000]\n' +
  'npm run bench -- --only routes [--routes PATTERN] [--seconds 0.4] [--rounds 5] [--callers 16]';

/** Parses the command line; throws the usage on unknown options. */
export function readOptions(words: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: { type: 'string', default: USUAL_CASES.join(',') },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      callers: { type: 'string' },
      'large-rows': { type: 'string', default: '1000000' },
      postings: { type: 'string', default: '3000000' },
      entries: { type: 'string', default: '1000000' },
      scheduled: { type: 'string', default: '50000' },
      consents: { type: 'string', default: '5000' },
      routes: { type: 'string', default: '' },
    },
  });
  const only = values.only.split(',').map((letter) => {
    const known = CASES.find((candidate) => candidate === letter.trim());
    if (known === undefined) throw new Error(`There is no case ${letter}. ${USAGE}`);
    return known;
  });
  if (only.includes('routes') && only.length > 1)
    throw new Error(`The case routes cannot be combined with others. ${USAGE}`);
  const defaults = only.includes('routes') ? ROUTES_DEFAULTS : DEFAULTS;
  return {
    only: new Set(only),
    seconds: positive(values.seconds ?? defaults.seconds),
    rounds: positive(values.rounds ?? defaults.rounds),
    callers: (values.callers ?? defaults.callers).split(',').map(positive),
    largeRows: positive(values['large-rows']),
    postings: positive(values.postings),
    entries: positive(values.entries),
    scheduled: positive(values.scheduled),
    consents: positive(values.consents),
    routes: new RegExp(values.routes),
  };
}

function positive(text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  throw new Error(`"${text}" is not a positive number. ${USAGE}`);
}
