import * as v from 'valibot';
import { type Party, signedToken } from '../service/parties.ts';
import {
  type Answer,
  amount,
  type Call,
  callService,
  codeOf,
  read,
  type ServiceAddress,
  ServiceUnavailable,
} from '../service/service.ts';

const nullableText = v.nullable(v.string());

const Consent = v.object({
  id: v.string(),
  status: v.string(),
  thirdPartyProvider: v.object({
    name: v.string(),
    website: v.string(),
    applicationName: v.string(),
    applicationDescription: v.string(),
    applicationWebsite: v.string(),
  }),
  content: v.object({
    scope: v.picklist(['accounts', 'payments']),
    instructedAmount: v.nullable(amount()),
    instructedCurrency: nullableText,
    creditorAccount: v.nullable(v.object({ identification: v.string(), name: v.string() })),
    requestedExecutionDateTime: nullableText,
  }),
  requestExpiryDateTime: v.string(),
});

export type Consent = v.InferOutput<typeof Consent>;

const Account = v.object({
  id: v.string(),
  currency: v.string(),
  alias: v.string(),
  iban: nullableText,
  accountNumber: nullableText,
  accountHolderName: v.string(),
  availableBalance: amount(),
});

export type Account = v.InferOutput<typeof Account>;

const User = v.object({
  id: v.string(),
  status: v.string(),
  identity: v.object({ givenName: v.string(), familyName: v.string() }),
});

export interface SignedIn {
  readonly userId: string;
  readonly name: string;
}

/** The person's address and device: without them, strangers could lock the person out. */
export interface Source {
  readonly ipAddress: string;
  /** As the service issued it to the device at an earlier sign-in. */
  readonly deviceToken: string | undefined;
}

const ConsentAnswer = v.object({ data: v.object({ consent: Consent }) });
const AccountsAnswer = v.object({ data: v.object({ accounts: v.array(Account) }) });
const UserAnswer = v.object({ data: v.object({ user: User }) });
const SignInAnswer = v.object({ data: v.object({ user: User, source: v.object({ deviceToken: v.string() }) }) });
const OutcomeAnswer = v.object({ data: v.object({ resource: v.object({ location: v.string() }) }) });

/** As many as one consent may name. */
const ACCOUNTS_MAX = 100;

/** The front office's requests to the service, as a machine user with the role operator. */
export class Office {
  readonly #service: ServiceAddress;
  readonly #machineUser: Party;

  constructor(service: ServiceAddress, machineUser: Party) {
    this.#service = service;
    this.#machineUser = machineUser;
  }

  /** Null for an unknown id. */
  async findConsent(id: string): Promise<Consent | null> {
    const answer = await this.#call({ method: 'GET', path: pathOf(id) });
    if (answer.status === 404 || answer.status === 400) return null;
    return read(ConsentAnswer, succeeded(answer)).data.consent;
  }

  async signIn(
    email: string,
    password: string,
    source: Source,
  ): Promise<(SignedIn & { readonly deviceToken: string }) | 'wrong' | 'limited'> {
    const data = { user: { email }, password, source };
    const json = { workflow: { code: 'password' }, data };
    const answer = await this.#call({ method: 'POST', path: '/user-authentications', json });
    if (answer.status === 429) return 'limited';
    // An invalid address counts as a wrong one.
    if (answer.status === 422 || answer.status === 400) return 'wrong';
    const { user, source: kept } = read(SignInAnswer, succeeded(answer)).data;
    const name = `${user.identity.givenName} ${user.identity.familyName}`;
    return { userId: user.id, name, deviceToken: kept.deviceToken };
  }

  /**
   * The active accounts of the clients that the user may act for, as far as they suit the consent; null if the user has become
   * inactive since the sign-in.
   */
  async accountsFor({ userId }: SignedIn, { content }: Consent): Promise<readonly Account[] | null> {
    const known = await this.#call({ method: 'GET', path: `/users/${userId}` });
    if (read(UserAnswer, succeeded(known)).data.user.status !== 'active') return null;
    const query = new URLSearchParams({
      'data.account.userId': userId,
      'data.account.status': 'active',
      'metadata.page.size': String(ACCOUNTS_MAX),
    });
    if (content.instructedCurrency !== null) query.set('data.account.currency', content.instructedCurrency);
    const answer = await this.#call({ method: 'GET', path: `/accounts?${query}` });
    return read(AccountsAnswer, succeeded(answer)).data.accounts;
  }

  approve(id: string, { userId }: SignedIn, accounts: readonly string[]): Promise<Decided> {
    return this.#decide(id, { action: 'approve', userId, accounts });
  }

  reject(id: string): Promise<Decided> {
    return this.#decide(id, { action: 'reject' });
  }

  async #decide(id: string, consent: object): Promise<Decided> {
    const json = { workflow: { code: 'direct' }, data: { consent } };
    const answer = await this.#call({ method: 'PATCH', path: pathOf(id), json });
    if (answer.status === 200) return { outcome: 'done', location: read(OutcomeAnswer, answer).data.resource.location };
    if (codeOf(answer) === 'consent.status.invalid') return { outcome: 'closed' };
    if (answer.status === 422) return { outcome: 'unusable' };
    throw new ServiceUnavailable();
  }

  async #call(call: Call): Promise<Answer> {
    const bearer = await signedToken(this.#machineUser, this.#service.audience);
    return callService(this.#service, { ...call, bearer });
  }
}

/** Where the browser goes; or the consent was no longer open; or the chosen accounts cannot be used. */
export type Decided =
  | { readonly outcome: 'done'; readonly location: string }
  | { readonly outcome: 'closed' }
  | { readonly outcome: 'unusable' };

function pathOf(id: string): string {
  return `/open-banking/GB/consents/${encodeURIComponent(id)}`;
}

function succeeded(answer: Answer): Answer {
  if (answer.status !== 200) throw new ServiceUnavailable();
  return answer;
}
