import { LosslessNumber } from 'lossless-json';
import * as v from 'valibot';
import { type Party, signedToken } from '../service/parties.ts';
import {
  type Answer,
  amount,
  callService,
  codeOf,
  read,
  type ServiceAddress,
  ServiceUnavailable,
} from '../service/service.ts';
import { ProofKey } from './proofs.ts';

/** The only payee of the application: its own shop. */
export const PAYEE = {
  schemeName: 'UK.OBIE.SortCodeAccountNumber',
  identification: '60161331926819',
  name: 'Brook Lane Bakery Ltd',
} as const;

export const CURRENCY = 'GBP';

/** The request to the account holder; the amount by its digits. */
export type Wanted = { readonly scope: 'accounts' } | { readonly scope: 'payments'; readonly amount: string };

export interface Asked {
  readonly wanted: Wanted;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
}

const nullableText = v.nullable(v.string());

const Account = v.object({
  id: v.string(),
  currency: v.string(),
  alias: v.string(),
  iban: nullableText,
  accountNumber: nullableText,
  accountHolderName: v.string(),
});

const Balance = v.object({ availableBalance: amount(), bookedBalance: amount() });

const Transaction = v.object({
  entryDateTime: v.string(),
  transactionNumber: v.string(),
  direction: v.picklist(['debit', 'credit']),
  amount: amount(),
  balance: amount(),
  narrative: nullableText,
});

export type Account = v.InferOutput<typeof Account>;
export type AccountWithBalance = Account & v.InferOutput<typeof Balance>;
export type Transaction = v.InferOutput<typeof Transaction>;

const Payment = v.object({ outgoingTransferId: v.string(), status: v.string() });

export type Payment = v.InferOutput<typeof Payment>;

const ConsentAnswer = v.object({ data: v.object({ consent: v.object({ id: v.string() }) }) });
const AccountsAnswer = v.object({ data: v.object({ accounts: v.array(Account) }) });
const BalancesAnswer = v.object({ data: v.object({ balances: v.array(Balance) }) });
const TransactionsAnswer = v.object({ data: v.object({ transactions: v.array(Transaction) }) });
const PaymentAnswer = v.object({ data: v.object({ payment: Payment }) });

const Token = v.object({ access_token: v.string(), id_token: v.string() });
export type Token = v.InferOutput<typeof Token>;

/** The consent has been revoked or has expired, or the service no longer knows the third party. */
export class AccessEnded extends Error {}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const TRANSACTIONS_MAX = 50;

/** The third party's requests to the service, under its own key or with access tokens. */
export class Application {
  readonly id: string;
  readonly #service: ServiceAddress;
  readonly #party: Party;
  readonly #key: ProofKey;

  constructor(service: ServiceAddress, party: Party) {
    this.id = party.id;
    this.#service = service;
    this.#party = party;
    this.#key = new ProofKey(service);
  }

  /** The id of the new consent; null if the service does not accept the request. */
  async ask({ wanted, ...request }: Asked): Promise<string | null> {
    const bearer = await signedToken(this.#party, this.#service.audience);
    const content = wanted.scope === 'accounts' ? { scope: 'accounts' } : contentOf(wanted.amount);
    const json = { workflow: { code: 'direct' }, data: { consent: { content, ...request } } };
    const answer = await callService(this.#service, {
      method: 'POST',
      path: '/open-banking/GB/consents',
      bearer,
      json,
    });
    return answer.status === 201 ? read(ConsentAnswer, answer).data.consent.id : null;
  }

  /** Null if the code has expired, was used, or never existed. */
  async exchange(code: string, redirectUri: string): Promise<Token | null> {
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await signedToken(this.#party, this.#service.publicUrl),
    };
    const call = { method: 'POST', path: '/open-banking/GB/token' } as const;
    const answer = await callService(this.#service, { ...call, form, proof: await this.#key.proofOf(call) });
    if (answer.status === 401) throw new AccessEnded();
    return answer.status === 200 ? read(Token, answer) : null;
  }

  async accounts(accessToken: string): Promise<readonly AccountWithBalance[]> {
    const { accounts } = read(AccountsAnswer, await this.#get('', accessToken)).data;
    return Promise.all(
      accounts.map(async (account) => {
        const { balances } = read(BalancesAnswer, await this.#get(`/${account.id}/balances`, accessToken)).data;
        const [balance] = balances;
        if (balance === undefined) throw new ServiceUnavailable();
        return { ...account, ...balance };
      }),
    );
  }

  /** The transactions of the current month. */
  async transactions(accountId: string, accessToken: string): Promise<readonly Transaction[]> {
    const path = `/${encodeURIComponent(accountId)}/transactions?metadata.page.size=${TRANSACTIONS_MAX}`;
    return read(TransactionsAnswer, await this.#get(path, accessToken)).data.transactions;
  }

  /** Once per consent, however often it is called; null if the service rejects the payment. */
  async pay(digits: string, consentId: string, accessToken: string): Promise<Payment | null> {
    const { instructedAmount, instructedCurrency, creditorAccount } = contentOf(digits);
    const payment = { instructedAmount, instructedCurrency, creditorAccount };
    const call = { method: 'POST', path: '/open-banking/GB/payments' } as const;
    const answer = await callService(this.#service, {
      ...call,
      proof: await this.#key.proofOf(call, accessToken),
      json: { workflow: { code: 'direct' }, data: { payment } },
      idempotencyKey: consentId,
    });
    if (answer.status === 401) throw new AccessEnded();
    // A previous attempt may still be in progress.
    if (answer.status === 429 || codeOf(answer) === 'common.idempotency.in_progress') throw new ServiceUnavailable();
    return answer.status === 201 ? read(PaymentAnswer, answer).data.payment : null;
  }

  async #get(path: string, accessToken: string): Promise<Answer> {
    const call = { method: 'GET', path: `/open-banking/GB/accounts${path}` } as const;
    const answer = await callService(this.#service, { ...call, proof: await this.#key.proofOf(call, accessToken) });
    if (answer.status === 401) throw new AccessEnded();
    if (answer.status !== 200) throw new ServiceUnavailable();
    return answer;
  }
}

function contentOf(digits: string) {
  return {
    scope: 'payments',
    paymentScope: 'domestic',
    paymentType: 'standard',
    instructedAmount: new LosslessNumber(digits),
    instructedCurrency: CURRENCY,
    creditorAccount: PAYEE,
  };
}
