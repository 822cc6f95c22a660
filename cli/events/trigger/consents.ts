import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { text } from '../../common/answers.ts';
import { accountOf, newUser, openedAccount } from './parties.ts';
import { givenAs, type Stage } from './world.ts';

/** Consents that a third party of this run asks for, and an account holder answers. */

const REDIRECT_URI = 'https://trigger.example/callback';
const CREDITOR = {
  schemeName: 'UK.OBIE.SortCodeAccountNumber',
  identification: '60161331926819',
  name: 'Trigger Bakery Ltd',
};
const PAYMENT = { instructedAmount: 10, instructedCurrency: 'GBP', creditorAccount: CREDITOR };

interface ThirdParty {
  readonly id: string;
  /** A token that it signs, for one audience. */
  sign(audience: string): Promise<string>;
}

async function newThirdParty({ world }: Stage): Promise<ThirdParty> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const kid = randomUUID();
  const thirdPartyProvider = {
    name: 'Trigger Budgets Ltd',
    website: 'https://trigger.example',
    applicationName: 'Trigger Budgets',
    applicationDescription: 'Causes events of consents',
    applicationWebsite: 'https://trigger.example/app',
    redirectUris: [REDIRECT_URI],
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256' }] },
  };
  const body = { workflow: { code: 'direct' }, data: { thirdPartyProvider } };
  const id = text(await world.call('POST', '/third-party-providers', body), 'data', 'thirdPartyProvider', 'id');
  const sign = (audience: string) =>
    new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(id)
      .setSubject(id)
      .setAudience(audience)
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime('1 minute')
      .sign(privateKey);
  return { id, sign };
}

interface Requested {
  readonly id: string;
  readonly thirdParty: ThirdParty;
}

async function requested(stage: Stage): Promise<Requested> {
  const { world } = stage;
  const thirdParty = await newThirdParty(stage);
  const content = { scope: 'payments', paymentScope: 'domestic', paymentType: 'standard', ...PAYMENT };
  const consent = { content, redirectUri: REDIRECT_URI, state: randomUUID(), nonce: randomUUID() };
  const body = { workflow: { code: 'direct' }, data: { consent } };
  const token = await thirdParty.sign(world.audience);
  const answer = await world.call('POST', '/open-banking/GB/consents', body, token);
  return { id: text(answer, 'data', 'consent', 'id'), thirdParty };
}

export async function requestConsent(stage: Stage): Promise<string> {
  return (await requested(stage)).id;
}

async function decide({ world }: Stage, id: string, consent: object) {
  const body = { workflow: { code: 'direct' }, data: { consent } };
  return world.call('PATCH', `/open-banking/GB/consents/${id}`, body);
}

/** Rejects the given consent, or a new one. */
export async function rejectConsent(stage: Stage): Promise<string> {
  const given = givenAs(stage, 'consent');
  const id = given === null ? await requestConsent(stage) : text(given, 'id');
  await decide(stage, id, { action: 'reject' });
  return id;
}

interface Approved extends Requested {
  /** What the account holder's browser carries to the third party. */
  readonly code: string;
}

async function approved(stage: Stage): Promise<Approved> {
  const account = await accountOf(stage);
  const userId = await newUser(stage, text(account, 'clientId'));
  const consent = await requested(stage);
  const decision = { action: 'approve', userId, accounts: [text(account, 'id')] };
  const location = text(await decide(stage, consent.id, decision), 'data', 'resource', 'location');
  const code = new URLSearchParams(new URL(location).hash.slice(1)).get('code') ?? '';
  return { ...consent, code };
}

export async function approveConsent(stage: Stage): Promise<string> {
  return (await approved(stage)).id;
}

async function authorised(stage: Stage): Promise<{ readonly id: string; readonly accessToken: string }> {
  const { id, thirdParty, code } = await approved(stage);
  const { world } = stage;
  const path = '/open-banking/GB/token';
  const answer = await world.form(path, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await thirdParty.sign(`${world.publicUrl}${path}`),
  });
  return { id, accessToken: text(answer, 'access_token') };
}

export async function authoriseConsent(stage: Stage): Promise<string> {
  return (await authorised(stage)).id;
}

/** Revokes the given consent, or a new one. */
export async function revokeConsent(stage: Stage): Promise<string> {
  const given = givenAs(stage, 'consent');
  const id = given === null ? await approveConsent(stage) : text(given, 'id');
  await decide(stage, id, { action: 'revoke' });
  return id;
}

export async function consumeConsent(stage: Stage): Promise<string> {
  const { id, accessToken } = await authorised(stage);
  const body = { workflow: { code: 'direct' }, data: { payment: PAYMENT } };
  await stage.world.call('POST', '/open-banking/GB/payments', body, accessToken);
  return id;
}

/** A code is worth nothing after a minute, by which the sandbox's clock moves. */
export async function expireConsent(stage: Stage): Promise<string> {
  const id = await approveConsent({ ...stage, given: { kind: 'account', resource: await openedAccount(stage) } });
  await stage.world.sandbox('/clock', { advanceBy: 'PT61S' });
  return id;
}
