import { parseArgs } from 'node:util';

/** Cases of a run without `--only`. */
const USUAL_CASES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
/** Excluded by default, as loading takes minutes. */
const CASES = [...USUAL_CASES, 'ledger-check', 'admissions'] as const;
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
}

const USAGE =
  'npm run bench -- [--only a,b,c,d,e,f,ledger-check,admissions] [--seconds 1] [--rounds 3] [--callers 1,16,32] [--large-rows 1000000] [--postings 3000000]';

/** Parses the command line; throws the usage on unknown options. */
export function readOptions(words: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: { type: 'string', default: USUAL_CASES.join(',') },
      seconds: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '3' },
      callers: { type: 'string', default: '1,16,32' },
      'large-rows': { type: 'string', default: '1000000' },
      postings: { type: 'string', default: '3000000' },
    },
  });
  const only = values.only.split(',').map((letter) => {
    const known = CASES.find((candidate) => candidate === letter.trim());
    if (known === undefined) throw new Error(`There is no case ${letter}. ${USAGE}`);
    return known;
  });
  return {
    only: new Set(only),
    seconds: positive(values.seconds),
    rounds: positive(values.rounds),
    callers: values.callers.split(',').map(positive),
    largeRows: positive(values['large-rows']),
    postings: positive(values.postings),
  };
}

function positive(text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  throw new Error(`"${text}" is no positive number. ${USAGE}`);
}
