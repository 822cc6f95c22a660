import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJson } from '../../../../config/files.ts';
import { fileBankExchange, type SandboxWithFiles } from '../../../../dev/servers/file-bank-exchange.ts';
import { parseWrittenId, paymentReferenceOf } from '../../../../domain/common/payment-references.ts';
import { SORT_CODE } from '../../../../sandbox/bank/identifiers.ts';
import type { Json } from '../../api.ts';
import type { FurtherBank } from '../../faults/crash-run.ts';
import { post, recallAtBank, sendPaymentIn } from '../../faults/load/outside.ts';
import { startTcpProxy } from '../../faults/tcp-proxy.ts';
import type { BankEntry } from '../../faults/verdict.ts';
import type { Link, Preparation, WholeService } from '../../servers/whole-service.ts';
import { carryLostFiles } from './by-hand.ts';
import { FILE_BANK, SFTP_LINK } from './names.ts';
import { countOpenFiles, countPaymentsByFile, problemsOfFiles, readFigures } from './verdict.ts';

// The sandbox's file bank as the bank of a run: how the service is configured for it, and how outsiders and its operator use it.

const PASSPHRASE = 'a passphrase that tests know';
/** The account that all accounts of our clients share. */
const SHARED_ACCOUNT = { accountNumber: '70872490', routingCodes: { 'sort-code': SORT_CODE } };
const PROFILE = 'run';
const UK = fileURLToPath(new URL('../../../../config/bank-profiles/uk.json', import.meta.url));

/** Every ending that the file bank knows but `.16`, which needs three days; the two that cut or fail a whole file are rare. */
const SCENARIOS = {
  '.50': 30,
  '.01': 1,
  '.02': 1,
  '.03': 1,
  '.04': 1,
  '.05': 0.1,
  '.06': 0.1,
  '.07': 0.5,
  '.08': 1,
  '.09': 1,
  '.10': 0.5,
  '.11': 1,
  '.12': 0.5,
  '.13': 0.5,
  '.14': 0.5,
  '.15': 0.5,
};

/** A profile of all that the file bank does: a payment ends when it is booked, and can be cancelled. */
export async function prepareFileBank(sandbox: SandboxWithFiles, links: Link[]): Promise<Preparation> {
  const made = await fileBankExchange({
    sandbox,
    customer: FILE_BANK,
    place: 'GB',
    accountNumber: SHARED_ACCOUNT.accountNumber,
    passphrase: PASSPHRASE,
    profile: PROFILE,
    settings: { pollSeconds: 2 },
  });
  const provider: Json = structuredClone(made.provider);
  const { transport } = provider.iso20022;
  const proxy = await startTcpProxy({ host: transport.host, port: transport.port });
  links.push({ name: SFTP_LINK, proxy });
  transport.port = proxy.port;
  const profileFile = join(sandbox.dataDirectory, 'bank-profile.json');
  const uk: Json = readJson(UK);
  writeFileSync(profileFile, JSON.stringify({ ...uk, endsBy: 'camt.054', takesCancellations: true }));
  return {
    configuration: { providers: { [FILE_BANK]: provider }, bankProfiles: { [PROFILE]: profileFile } },
    environment: made.environment,
  };
}

const DAY_ENDS_EVERY_MS = 10_000;

/** The bank of one run. */
export function fileBankOfRun(): FurtherBank {
  let carried = 0;
  let dayEndedAt = Number.NEGATIVE_INFINITY;
  return {
    provider: FILE_BANK,
    connect: { type: 'explicit', serviceProvider: FILE_BANK },
    scenarios: SCENARIOS,
    payIn: async (service, { ledgerNumber }, money) => {
      const paid = { ...money, ...SHARED_ACCOUNT, reference: ledgerNumber, senderName: 'Grace Hopper' };
      return (await sendPaymentIn(service, '/file-bank/payments-in', paid))?.paymentReference ?? null;
    },
    steer: steerPayment,
    finish: async (service) => {
      await settleOpen(service);
      // Whatever camt.054 has told, the statement of the day tells again; not too often, as each statement is a file to be taken.
      if (performance.now() - dayEndedAt > DAY_ENDS_EVERY_MS) {
        dayEndedAt = performance.now();
        await post(service, '/file-bank/end-of-day', {}).catch(() => null);
      }
      carried += await carryLostFiles(service);
    },
    recall: (service, id) => recallAtBank(service, `/file-bank/payments/${paymentReferenceOf(id)}`),
    recallReference: (id, number) => `${paymentReferenceOf(id)}R${number}`,
    books: {
      provider: FILE_BANK,
      idOfPaymentIn: 'service_provider_reference',
      tellsFailuresAsReturns: true,
      statement: readStatement,
    },
    countOpen: countOpenFiles,
    countPayments: countPaymentsByFile,
    readFigures: async (service) => ({ ...(await readFigures(service)), carried }),
    findProblems: problemsOfFiles,
  };
}

async function readStatement({ sandboxUrl }: WholeService): Promise<BankEntry[]> {
  const response = await fetch(`${sandboxUrl}/file-bank/statement`);
  const { entries }: Json = await response.json();
  return entries.map((entry: Json) => ({
    ...entry,
    pence: Math.round(entry.amount * 100),
    paymentId: entry.bankReference,
    ourReference: entry.endToEndId === null ? null : parseWrittenId(entry.endToEndId),
  }));
}

async function steerPayment(service: WholeService, id: string, action: 'settle' | 'return', body: Json) {
  await post(service, `/file-bank/payments/${paymentReferenceOf(id)}/${action}`, body).catch(() => null);
}

const OPEN = `SELECT id FROM outgoing_transfers
  WHERE provider = $1 AND scope = 'external' AND status IN ('processing', 'released') AND amount_minor % 100 IN (10, 13)`;

/** The bank's operator settles what waits for that. */
async function settleOpen(service: WholeService): Promise<void> {
  const open = await service.database.reader.statement<{ id: string }>(OPEN, [FILE_BANK]);
  for (const { id } of open) await steerPayment(service, id, 'settle', {});
}
