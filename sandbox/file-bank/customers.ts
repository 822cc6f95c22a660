import * as v from 'valibot';
import type { Bank } from '../bank/bank.ts';
import { BankError, invalid, text } from '../bank/wire.ts';
import { isPublicKey } from './messages/seals.ts';
import {
  BANK_KEYS,
  BATCH_BOOKINGS,
  CAMT_VERSIONS,
  type CustomerSettings,
  type FileCustomer,
  PAYEE_CHECKS,
  PGP_FORMS,
  STATUS_REPORTS,
  USUAL_SETTINGS,
} from './records.ts';

const one = <Values extends readonly string[]>(values: Values) =>
  v.optional(v.picklist(values, `must be one of ${values.join(', ')}`));

export const SETTINGS_REQUEST = v.strictObject(
  {
    accounts: v.optional(v.array(text(34), 'must be a list of IBANs or account numbers')),
    statusReports: one(STATUS_REPORTS),
    notifications: v.optional(v.boolean('must be true or false')),
    batchBooking: one(BATCH_BOOKINGS),
    payeeCheck: one(PAYEE_CHECKS),
    camtVersion: one(CAMT_VERSIONS),
    pgp: one(PGP_FORMS),
    pgpKey: v.optional(v.string('must be an armored key')),
    bankKey: one(BANK_KEYS),
  },
  'is not a setting of a customer',
);

/** A customer's name is that of its folder, too. */
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

export function isCustomerName(name: string): boolean {
  return NAME.test(name);
}

/** A customer is there from its first sign-in or setting on. */
export async function openCustomer(bank: Bank, name: string): Promise<FileCustomer> {
  if (!isCustomerName(name)) throw invalid('customer', 'must be a name of small letters, digits and hyphens');
  const known = bank.books.fileCustomers.get(name);
  if (known !== undefined) return known;
  const customer: FileCustomer = { name, settings: USUAL_SETTINGS };
  await bank.commit({ put: { fileCustomers: [customer] } });
  return customer;
}

export async function changeSettings(
  bank: Bank,
  name: string,
  request: { readonly [Name in keyof CustomerSettings]?: CustomerSettings[Name] | undefined },
): Promise<FileCustomer> {
  const { settings } = await openCustomer(bank, name);
  const changed: FileCustomer = {
    name,
    settings: {
      accounts: request.accounts ?? settings.accounts,
      statusReports: request.statusReports ?? settings.statusReports,
      notifications: request.notifications ?? settings.notifications,
      batchBooking: request.batchBooking ?? settings.batchBooking,
      payeeCheck: request.payeeCheck ?? settings.payeeCheck,
      camtVersion: request.camtVersion ?? settings.camtVersion,
      pgp: request.pgp ?? settings.pgp,
      pgpKey: request.pgpKey ?? settings.pgpKey,
      bankKey: request.bankKey ?? settings.bankKey,
    },
  };
  if (changed.settings.pgp !== 'none' && !(await isPublicKey(changed.settings.pgpKey))) {
    throw invalid('pgpKey', 'must be an armored public key');
  }
  await bank.commit({ put: { fileCustomers: [changed] } });
  return changed;
}

export function settingsOf(bank: Bank, customer: string): CustomerSettings {
  return bank.books.fileCustomers.get(customer)?.settings ?? USUAL_SETTINGS;
}

/** The customer whose account it is: by its settings, else by who has paid from it, else the only one there is. */
export function customerOf(bank: Bank, account: string): string | null {
  const { fileCustomers, bookings } = bank.books;
  for (const { name, settings } of fileCustomers.values()) if (settings.accounts.includes(account)) return name;
  for (const booking of bookings.values()) if (booking.account === account) return booking.customer;
  const [only, ...others] = fileCustomers.keys();
  return others.length === 0 ? (only ?? null) : null;
}

export function requireCustomerOf(bank: Bank, account: string): string {
  const customer = customerOf(bank, account);
  if (customer !== null) return customer;
  throw new BankError(422, 'unknown-account', 'No customer is known to have this account: name it in its settings.');
}

export function accountKey({ account, currency }: { readonly account: string; readonly currency: string }): string {
  return `${account} ${currency}`;
}
