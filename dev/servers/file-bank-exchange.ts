import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { identifiersOf } from '../../sandbox/bank/identifiers.ts';
import { authorizedKeysFile, newKey } from '../../sandbox/file-bank/sftp/keys.ts';

/** A running sandbox with its file bank. */
export interface SandboxWithFiles {
  readonly url: string;
  /** The `DATA_DIR` with which it runs. */
  readonly dataDirectory: string;
}

export interface ExchangeOptions {
  readonly sandbox: SandboxWithFiles;
  /** Of the customer at the file bank. */
  readonly customer: string;
  /** Whose account at the bank it is, which all accounts of our clients share. */
  readonly place: keyof typeof PLACES;
  /** The number of that account: two customers of one bank have two. */
  readonly accountNumber: string;
  /** The service has one for all of its banks. */
  readonly passphrase: string;
  /** One of config/bank-profiles; by default that of the place. */
  readonly profile?: string;
  /** Settings of the customer at the bank, docs/reference/sandbox/file-bank.md. */
  readonly atBank?: Readonly<Record<string, unknown>>;
  /** Settings of the exchange besides. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** What the service needs to pay through the file bank by SFTP. */
export interface FileBankExchange {
  /** For `providers.CODE` of a configuration file. */
  readonly provider: Readonly<Record<string, unknown>>;
  readonly environment: { readonly SFTP_PASSPHRASE: string };
  /** The number by which the bank knows the account: an IBAN if it has one. */
  readonly account: string;
}

const HOLDER = 'Safeguarded Clients Ltd';

/** What a bank of the place offers, and how it takes files. */
const PLACES = {
  DE: { currency: 'EUR', schemes: ['sepa', 'sepa-instant', 'target2'], profile: 'sepa', isNamedByIban: true },
  GB: { currency: 'GBP', schemes: ['faster-payments', 'chaps'], profile: 'uk', isNamedByIban: false },
  US: { currency: 'USD', schemes: ['swift'], profile: 'swift-cgi', isNamedByIban: false },
} as const;

/**
 * Makes a customer of the sandbox's file bank, with a key of its own that a passphrase encrypts, and says how the service is to be configured
 * for it. Repeated, it changes nothing.
 */
export async function fileBankExchange(options: ExchangeOptions): Promise<FileBankExchange> {
  const { sandbox, customer, passphrase } = options;
  const server = await answered(`${sandbox.url}/file-bank`);
  const privateKeyFile = customerKey(fileBankDirectory(sandbox.dataDirectory), customer, passphrase);
  const { provider, account } = exchangeWith(options, { ...server, privateKeyFile });
  const settings = JSON.stringify({ accounts: [account], ...options.atBank });
  await answered(`${sandbox.url}/file-bank/customers/${customer}`, { method: 'POST', body: settings });
  return { provider, environment: { SFTP_PASSPHRASE: passphrase }, account };
}

/** Where the file bank of a sandbox keeps its books and keys. */
export function fileBankDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'sandbox/file-bank');
}

/** The file with the customer's key, which the bank lets in. Another one is made if the passphrase has changed. */
export function customerKey(directory: string, customer: string, passphrase: string): string {
  const file = join(directory, 'keys', customer);
  if (!existsSync(file) || !isOpenedBy(readFileSync(file, 'utf8'), passphrase)) newKey(file, passphrase);
  authorize(authorizedKeysFile(directory, null), readFileSync(`${file}.pub`, 'utf8'));
  return file;
}

/** How the customer reaches the bank. */
export interface Reached {
  readonly sftpPort: number;
  readonly hostKeyFingerprint: string;
  readonly privateKeyFile: string;
}

/** How the service is configured for an exchange, and the number of its account there. */
export function exchangeWith(
  { customer, place, ...options }: Omit<ExchangeOptions, 'sandbox' | 'passphrase' | 'atBank'>,
  { sftpPort, hostKeyFingerprint, privateKeyFile }: Reached,
): Pick<FileBankExchange, 'provider' | 'account'> {
  const { currency, schemes, profile, isNamedByIban } = PLACES[place];
  const { iban, accountNumber, routingCodes } = identifiersOf({ currency, country: place }, options.accountNumber);
  const account = isNamedByIban ? iban : accountNumber;
  if (account === null) throw new Error(`accounts in ${place} have no such number`);
  const numbers = isNamedByIban ? { iban } : { accountNumber };
  const offer = {
    currencies: [currency],
    countries: [place],
    defaultCountry: place,
    schemes,
    bank: {
      name: 'Sandbox File Bank',
      address: '7 Folder Street, Frankfurt am Main',
      country: place,
      routingCodes,
      pooledAccount: { accountHolderName: HOLDER, ...numbers },
    },
  };
  const transport = {
    kind: 'sftp',
    host: '127.0.0.1',
    port: sftpPort,
    user: customer,
    hostKeys: [hostKeyFingerprint],
    addresses: ['127.0.0.0/8'],
    privateKeyFile,
    // The bank's words for its folders are those of the other side.
    out: '/in',
    in: '/out',
    archive: '/archive',
  };
  const party = { name: HOLDER, id: customer.toUpperCase(), country: place };
  const iso20022 = { profile: options.profile ?? profile, party, transport, ...options.settings };
  return { provider: { method: 'built-in', offers: [offer], iso20022 }, account };
}

function isOpenedBy(key: string, passphrase: string): boolean {
  return !(ssh2.utils.parseKey(key, passphrase) instanceof Error);
}

/** The sandbox reads the file at each sign-in. */
function authorize(file: string, publicKey: string): void {
  if (!readFileSync(file, 'utf8').includes(publicKey.trim())) appendFileSync(file, publicKey);
}

async function answered(url: string, request: RequestInit = {}) {
  const answer = await fetch(url, request);
  if (!answer.ok) throw new Error(`the sandbox answers ${answer.status} at ${url}: ${await answer.text()}`);
  return (await answer.json()) as { readonly sftpPort: number; readonly hostKeyFingerprint: string };
}
