import * as v from 'valibot';
import { ERROR_EXPLANATIONS } from '../../../domain/common/error-explanations.ts';
import { ERROR_CODES } from '../../../domain/common/errors.ts';
import { WEBHOOK_DELIVERY_STATUSES } from '../../../domain/webhooks/subscriptions.ts';
import { findAnything } from './find.ts';
import type { Query, ReadOnlyApi, Shown } from './read-only-api.ts';

/** A question that an assistant can ask. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly run: (api: ReadOnlyApi, given: unknown) => Promise<Shown>;
}

type Input = v.StrictObjectSchema<v.ObjectEntries, undefined>;

function tool<Entries extends v.ObjectEntries>(
  name: string,
  description: string,
  entries: Entries,
  run: (api: ReadOnlyApi, given: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>) => Promise<Shown>,
): Tool {
  const input = v.strictObject(entries);
  return { name, description, input, run: (api, given) => run(api, v.parse(input, given ?? {})) };
}

const text = (meaning: string) => v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.description(meaning));
const id = (meaning: string) => v.pipe(v.string(), v.uuid(), v.description(meaning));
const day = (meaning: string) => v.pipe(v.string(), v.isoDate(), v.description(meaning));

/** Answers must fit a model's window. */
const PAGE_SIZE = '20';
const page = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.description('From 0; 20 to a page')));
const paged = (number: number | undefined): Query => ({
  'metadata.page.size': PAGE_SIZE,
  'metadata.page.number': String(number ?? 0),
});

const help = tool(
  'help',
  'Lists the tools and the guides, or returns one guide. Ask it first.',
  { guide: v.optional(v.pipe(v.string(), v.regex(/^[a-z-]+$/), v.description('Its name, such as pay-out'))) },
  async (api, { guide }) => {
    if (guide !== undefined) return api.text(`/docs/guides/${guide}.md`);
    const tools = TOOLS.map(({ name, description }) => `- ${name}: ${description}`);
    const pages = await api.text('/llms.txt');
    return `${tools.join('\n')}\n\nAll times are UTC. Nothing here can change anything.\n\n${pages}`;
  },
);

const find = tool(
  'find',
  'Finds payments, accounts, clients, users, consents and deliveries by whatever is known: an id, transaction number, reference of a bank, IBAN, account number, e-mail address or part of a name.',
  { text: text('What is known') },
  (api, given) => findAnything(api, given.text),
);

const payment = tool(
  'payment',
  'Says where a payment is: its status, what happened to it in order, what it waits for and what would release it. Takes an incoming or outgoing transfer’s id; find has it.',
  { id: id('Of the transfer') },
  async (api, given) => {
    const path = `/outgoing-transfers/${given.id}`;
    const outgoing = await api.find(path);
    const found = outgoing ?? (await api.read(`/incoming-transfers/${given.id}`));
    const from = outgoing === null ? `/incoming-transfers/${given.id}` : path;
    return { ...found, ...(await api.read(`${from}/timeline`, paged(0))) };
  },
);

const TIMELINES = {
  'outgoing-transfer': '/outgoing-transfers',
  'incoming-transfer': '/incoming-transfers',
  account: '/accounts',
  client: '/clients',
  consent: '/open-banking/GB/consents',
} as const;

const timeline = tool(
  'timeline',
  'Lists what happened to a payment, account, client or consent, in order, with who did it and why; at the end what it waits for.',
  {
    kind: v.picklist(['outgoing-transfer', 'incoming-transfer', 'account', 'client', 'consent']),
    id: id('Of it'),
    page,
  },
  (api, { kind, id: of, page: number }) => api.read(`${TIMELINES[kind]}/${of}/timeline`, paged(number)),
);

const waitingWork = tool(
  'waiting_work',
  'Lists what waits: payments out by what they wait for, money in that is pending or on hold, and open differences with banks.',
  {},
  async (api) => {
    const list = (path: string, name: string, value: string) =>
      api.read(path, { [`data.${name}`]: value, 'metadata.page.size': PAGE_SIZE });
    const [pending, processing, held, arriving, breaks] = await Promise.all([
      list('/outgoing-transfers', 'outgoingTransfer.status', 'pending'),
      list('/outgoing-transfers', 'outgoingTransfer.status', 'processing'),
      list('/incoming-transfers', 'incomingTransfer.status', 'on-hold'),
      list('/incoming-transfers', 'incomingTransfer.status', 'pending'),
      list('/reconciliation-breaks', 'reconciliationBreak.status', 'open'),
    ]);
    return {
      pendingOutgoingTransfers: pending.outgoingTransfers,
      processingOutgoingTransfers: processing.outgoingTransfers,
      heldIncomingTransfers: held.incomingTransfers,
      pendingIncomingTransfers: arriving.incomingTransfers,
      openReconciliationBreaks: breaks.reconciliationBreaks,
      note: `The first ${PAGE_SIZE} of each`,
    };
  },
);

const account = tool(
  'account',
  'Shows an account: balances, status, connection to its bank, how to pay into it, and its sub-accounts.',
  { id: id('Of the account') },
  async (api, given) => {
    const [shown, deposit, subAccounts] = await Promise.all([
      api.read(`/accounts/${given.id}`),
      api.find(`/accounts/${given.id}/deposit-information`),
      api.read('/accounts', { 'data.account.mainAccountId': given.id, 'metadata.page.size': PAGE_SIZE }),
    ]);
    return { ...shown, ...deposit, subAccounts: subAccounts.accounts };
  },
);

const statement = tool(
  'statement',
  'Lists the entries of an account with the balance after each; of the present month unless days are given.',
  {
    accountId: id('Of the account'),
    from: v.optional(day('The first day')),
    to: v.optional(day('The last day')),
    page,
  },
  (api, { accountId, from, to, page: number }) =>
    api.read(`/accounts/${accountId}/account-statements`, {
      ...(from === undefined ? {} : { 'data.accountStatement.entryDateTimeFrom': `${from}T00:00:00.000` }),
      ...(to === undefined ? {} : { 'data.accountStatement.entryDateTimeTo': `${to}T23:59:59.999` }),
      ...paged(number),
    }),
);

const client = tool(
  'client',
  'Shows a client and its accounts with their balances.',
  { id: id('Of the client') },
  async (api, given) => {
    const [shown, accounts] = await Promise.all([
      api.read(`/clients/${given.id}`),
      api.read('/accounts', { 'data.account.clientId': given.id, 'metadata.page.size': PAGE_SIZE }),
    ]);
    return { ...shown, ...accounts };
  },
);

const dryRunPayment = tool(
  'dry_run_payment',
  'Says whether a payment would be accepted, what it would cost, and what it would wait for. Nothing is created.',
  {
    clientId: id('Who pays'),
    sourceAccountId: id('The account that pays'),
    currency: v.pipe(v.string(), v.length(3), v.description('ISO 4217')),
    amount: v.pipe(v.number(), v.minValue(0), v.description('In the currency, such as 12.5')),
    destinationAccountId: v.optional(id('For a payment to another account of the service')),
    beneficiaryBankAccountId: v.optional(id('For a payment to a bank account of a beneficiary; needs scheme')),
    scheme: v.optional(text('Such as faster-payments, sepa or swift')),
    transferDate: v.optional(day('For a later day')),
  },
  (api, given) => {
    const { clientId, sourceAccountId, currency, amount, destinationAccountId, beneficiaryBankAccountId } = given;
    const isInternal = destinationAccountId !== undefined;
    return api.dryRunPayment({
      clientId,
      currency,
      amount,
      scope: isInternal ? 'internal' : 'external',
      scheme: given.scheme ?? null,
      transferDate: given.transferDate ?? null,
      source: { type: 'client-account', accountId: sourceAccountId },
      destination: isInternal
        ? { type: 'client-account', accountId: destinationAccountId }
        : { type: 'beneficiary-bank-account', beneficiaryBankAccountId: beneficiaryBankAccountId ?? null },
    });
  },
);

const explainError = tool(
  'explain_error',
  'Says what an error code means and what to do about it.',
  { code: v.pipe(v.picklist(ERROR_CODES), v.description('Such as account.balance.insufficient')) },
  async (_, { code }) => ({ code, ...ERROR_EXPLANATIONS[code] }),
);

const webhookDeliveries = tool(
  'webhook_deliveries',
  'Lists what was sent to receivers of webhooks, newest last, with every attempt and why it failed; by the resource that changed, by status, or all.',
  {
    resourceId: v.optional(id('Of the payment, account, client or other resource that changed')),
    status: v.optional(v.picklist(WEBHOOK_DELIVERY_STATUSES)),
    page,
  },
  (api, { resourceId, status, page: number }) =>
    api.read('/webhook-deliveries', {
      'data.webhookDelivery.resourceId': resourceId,
      'data.webhookDelivery.status': status,
      ...paged(number),
    }),
);

const events = tool(
  'events',
  'Lists what happened, in order, from a position on; each event shows its resource as it was.',
  {
    positionAfter: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.description('0 is the beginning'))),
    type: v.optional(text('Such as outgoing-transfer-failed')),
  },
  (api, { positionAfter, type }) =>
    api.read('/events', {
      'data.event.positionAfter': positionAfter === undefined ? undefined : String(positionAfter),
      'data.event.type': type,
      'metadata.page.size': PAGE_SIZE,
    }),
);

/** By task, and few: a model reads all their descriptions before its first question. */
export const TOOLS: readonly Tool[] = [
  help,
  find,
  payment,
  timeline,
  waitingWork,
  account,
  statement,
  client,
  dryRunPayment,
  explainError,
  webhookDeliveries,
  events,
];
