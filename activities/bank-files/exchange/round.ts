import { listDeliveredInstructions } from '../../../db/bank-files/instructions.ts';
import { holdLease, LEASE_SECONDS, releaseLease } from '../../../db/bank-files/leases.ts';
import { takeAgainForHeld } from '../../../db/bank-files/restores.ts';
import { readClock } from '../../../db/common/clock.ts';
import { endPaidPayments, endRejectedPayments } from '../by-hand/held-payments.ts';
import { unusablePgp } from '../pgp/library.ts';
import { assembleFiles } from './assemble.ts';
import { type BankServices, LeaseLost } from './bank.ts';
import { deliverFiles } from './deliver.ts';
import { archiveReader, fetchFiles, NOTHING_SEEN } from './fetch.ts';
import { applyNews } from './instruction-news.ts';
import { takeFiles } from './take.ts';
import { connectionsTo } from './transport.ts';

/** The exchange of files with one bank, one round at a time. */
export interface Exchange {
  /** False if another process exchanges with this bank. Throws, after all that could be done, if the bank's server did not do its part. */
  round(): Promise<boolean>;
  /** Gives the lease back. */
  end(): Promise<void>;
}

/**
 * Each of the steps stands by itself: it finds what is to be done in Postgres or at the bank, commits what it has done, and may be killed
 * anywhere. `holder` is the id of this process.
 */
export function exchangeWith(services: BankServices, holder: string): Exchange {
  const { database, bank } = services;
  const { provider } = bank;
  let previous = NOTHING_SEEN;
  const readArchive = archiveReader();

  const { hold, renew, requireHeld, whileHeld } = leaseOf(services, holder);

  /** Returns how the bank's server failed, if it did: what it does not do in this round is done in the next. */
  async function meetBank(): Promise<Error | null> {
    // Trouble with what we deliver does not keep us from fetching.
    const delivering = connectionsTo(services.openTransport);
    const fetching = connectionsTo(services.openTransport);
    const reading = connectionsTo(services.openTransport);
    try {
      await deliverFiles(services, delivering, renew);
      delivering.close();
      previous = await fetchFiles(services, fetching, previous, renew);
      fetching.close();
      await readArchive(services, reading, { renew, isAllHere: previous.isAllHere });
    } finally {
      delivering.close();
      fetching.close();
      reading.close();
    }
    return delivering.failure() ?? fetching.failure() ?? reading.failure();
  }

  async function work(): Promise<void> {
    // Without a key of ours nothing is written, and the bank's files are fetched all the same.
    const unsealed = await assembleFiles(services).then(() => null, unusablePgp);
    const failure = (await meetBank()) ?? unsealed;
    await renew();
    // Files in Postgres are processed whether or not the bank's server answers.
    await tellDeliveries(services);
    await database.transaction((tx) => takeAgainForHeld(tx, provider));
    await endPaidPayments(services);
    await endRejectedPayments(services, () => takeFiles(services, { renew, requireHeld }));
    if (failure !== null) throw failure;
  }

  return {
    async round() {
      if (!(await hold())) return false;
      await whileHeld(work);
      return true;
    },
    end: () => database.transaction((tx) => releaseLease(tx, provider, holder)),
  };
}

/** The lease of the exchange with a bank, as this process last knew it. */
function leaseOf({ database, bank: { provider } }: BankServices, holder: string) {
  let heldAt = Number.NEGATIVE_INFINITY;
  const hold = async () => {
    const now = performance.now();
    const isHeld = await database.transaction((tx) => holdLease(tx, provider, holder));
    heldAt = isHeld ? now : Number.NEGATIVE_INFINITY;
    return isHeld;
  };
  /** Without a call: a process that was stopped for longer than its lease may have lost it. */
  const requireHeld = () => {
    if (performance.now() - heldAt > LEASE_SECONDS * 1_000) throw new LeaseLost(`the lease of ${provider} has run out`);
  };
  const renew = async () => {
    if (!(await hold())) throw new LeaseLost(`another process exchanges files with ${provider}`);
  };

  /** Calls at the bank's server may take longer than the lease. */
  async function whileHeld(work: () => Promise<void>): Promise<void> {
    let beating: Promise<unknown> = Promise.resolve();
    const beat = setInterval(() => {
      // Without Postgres the lease runs out, which the next step of the work sees.
      beating = beating.then(hold).catch(() => {});
    }, HEARTBEAT_MS);
    try {
      await work();
    } finally {
      clearInterval(beat);
      await beating;
    }
  }

  return { hold, renew, requireHeld, whileHeld };
}

/** Several times within a lease. */
const HEARTBEAT_MS = 5_000;
const INSTRUCTIONS_AT_ONCE = 1_000;

/** Where delivery releases payments, those of delivered files are released, each once. */
async function tellDeliveries(services: BankServices): Promise<void> {
  const { database, bank } = services;
  if (bank.profile.releasedBy !== 'delivery') return;
  const delivered = await listDeliveredInstructions(database.reader, bank.provider, INSTRUCTIONS_AT_ONCE);
  const occurredAt = await readClock(database.reader);
  for (const instruction of delivered) {
    await applyNews(services, instruction, { news: { kind: 'delivered' }, heard: null, occurredAt });
  }
}
