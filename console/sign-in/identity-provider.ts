import * as oidc from 'openid-client';
import type { ConsoleSettings } from '../../config/environment/console.ts';
import type { Identity } from '../../db/people/people.ts';
import type { SignIn } from '../../db/people/sign-ins.ts';
import { CLOCK_TOLERANCE_SECONDS, provedAfter, rolesOfClaim } from '../../domain/people/sessions.ts';

const TIMEOUT_SECONDS = 5;
const NAME_LENGTH_MAX = 200;

/** Why a person cannot be let in; each has a page of its own. */
export type SignInProblem = 'unavailable' | 'denied' | 'not-proved-again' | 'no-role-claim' | 'no-role' | 'failed';

export class SignInRejected extends Error {
  readonly problem: SignInProblem;

  /** `detail`: for the log; never a token, a code or a person's data. */
  constructor(problem: SignInProblem, detail: string) {
    super(detail);
    this.name = 'SignInRejected';
    this.problem = problem;
  }
}

export interface ProvedIdentity extends Identity {
  /** When they last proved who they are, by the identity provider's word. */
  readonly provedAt: Date;
}

/** The company's OpenID provider. Its metadata are read at the first sign-in, so that the console starts without it. */
export class IdentityProvider {
  readonly #settings: ConsoleSettings;
  #reading: Promise<oidc.Configuration> | null = null;

  constructor(settings: ConsoleSettings) {
    this.#settings = settings;
  }

  /** Where the browser is sent to begin. */
  async authorizationAddress(
    signIn: Pick<SignIn, 'nonce' | 'codeVerifier' | 'asksAgain'>,
    state: string,
  ): Promise<string> {
    const configuration = await this.#configuration();
    const { identityProvider } = this.#settings;
    return oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectAddress,
      scope: identityProvider.scope,
      state,
      nonce: signIn.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(signIn.codeVerifier),
      code_challenge_method: 'S256',
      // With it the provider must tell when the person proved who they are.
      max_age: String(this.#maxAgeSeconds),
      ...(signIn.asksAgain ? { prompt: 'login' } : {}),
    }).href;
  }

  /** Exchanges the code that the browser brought back, and checks all that the provider says. `search`: the query of the call. */
  async identityOf(search: string, signIn: SignIn, state: string): Promise<ProvedIdentity> {
    const configuration = await this.#configuration();
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, new URL(`${this.#redirectAddress}${search}`), {
        expectedState: state,
        expectedNonce: signIn.nonce,
        pkceCodeVerifier: signIn.codeVerifier,
        maxAge: this.#maxAgeSeconds,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims?.auth_time === undefined) throw new SignInRejected('failed', 'no auth_time');
      const provedAt = new Date(claims.auth_time * 1_000);
      if (signIn.asksAgain && !provedAfter(signIn.createdAt, provedAt))
        throw new SignInRejected('not-proved-again', 'auth_time is older than the request');
      return {
        ...this.#identity(await withUserInfo(configuration, tokens.access_token, claims, this.#rolesClaim)),
        provedAt,
      };
    } catch (error) {
      throw rejectionOf(error);
    }
  }

  /** Where the browser is sent to end its session at the provider too; null if the provider has no such place. */
  async endOfSessionAddress(): Promise<string | null> {
    const configuration = await this.#configuration();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
    const post_logout_redirect_uri = `${this.#settings.url}/signed-out`;
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri }).href;
  }

  get #redirectAddress(): string {
    return `${this.#settings.url}/sign-in/callback`;
  }

  get #maxAgeSeconds(): number {
    return this.#settings.sessionMinutes * 60;
  }

  get #rolesClaim(): string {
    return this.#settings.identityProvider.rolesClaim;
  }

  #identity(claims: Claims): Identity {
    const { rolesByClaimValue } = this.#settings.identityProvider;
    const roles = rolesOfClaim(claims[this.#rolesClaim], rolesByClaimValue);
    if (roles === null) throw new SignInRejected('no-role-claim', 'the claim is missing');
    if (roles.length === 0) throw new SignInRejected('no-role', 'no value of the claim has a role');
    const email = textOf(claims.email);
    const name = textOf(claims.name) ?? textOf(claims.preferred_username) ?? email ?? claims.sub;
    return { issuer: claims.iss, subject: claims.sub, name: name.slice(0, NAME_LENGTH_MAX), email, roles };
  }

  #configuration(): Promise<oidc.Configuration> {
    this.#reading ??= this.#read().catch((error: unknown) => {
      this.#reading = null;
      throw new SignInRejected('unavailable', `the provider's metadata cannot be read: ${nameOf(error)}`);
    });
    return this.#reading;
  }

  async #read(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings.identityProvider;
    const issuerAddress = new URL(issuer);
    const metadata = { [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    const configuration = await oidc.discovery(
      issuerAddress,
      clientId,
      metadata,
      oidc.ClientSecretBasic(clientSecret),
      // The settings allow plain http only on this machine.
      {
        timeout: TIMEOUT_SECONDS,
        execute: issuerAddress.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
        [oidc.customFetch]: fetchOnce,
      },
    );
    // The signature of an ID token counts too, not only the connection on which it came.
    oidc.enableNonRepudiationChecks(configuration);
    return configuration;
  }
}

/** A connection that was kept may have been closed by the provider; and a code, which works once, is not sent twice. */
const fetchOnce: oidc.CustomFetch = (url, { headers, body, ...options }) =>
  fetch(url, { ...options, body: body ?? null, headers: { ...headers, connection: 'close' } });

interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly [name: string]: unknown;
}

/** Some providers put groups and names into the ID token, others only into what they say of the user. */
async function withUserInfo(
  configuration: oidc.Configuration,
  accessToken: string,
  claims: Claims,
  rolesClaim: string,
): Promise<Claims> {
  if (claims[rolesClaim] !== undefined && claims.name !== undefined) return claims;
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  return { ...(await oidc.fetchUserInfo(configuration, accessToken, claims.sub)), ...claims };
}

function textOf(claim: unknown): string | null {
  return typeof claim === 'string' && claim.trim() !== '' ? claim.trim() : null;
}

const PASSING: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error']);

function rejectionOf(error: unknown): SignInRejected {
  if (error instanceof SignInRejected) return error;
  if (error instanceof oidc.AuthorizationResponseError) {
    if (error.error === 'access_denied') return new SignInRejected('denied', 'access_denied');
    return new SignInRejected(
      PASSING.has(error.error) ? 'unavailable' : 'failed',
      'the provider answered with an error',
    );
  }
  return new SignInRejected(isUnreachable(error) ? 'unavailable' : 'failed', nameOf(error));
}

function isUnreachable(error: unknown): boolean {
  // What fetch throws.
  if (error instanceof TypeError) return true;
  if (error instanceof oidc.ResponseBodyError) return error.status >= 500;
  if (!(error instanceof oidc.ClientError)) return false;
  if (error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_ABORT') return true;
  const { cause } = error;
  // No `instanceof`: the server's library replaces the global class.
  return typeof cause === 'object' && cause !== null && 'status' in cause && Number(cause.status) >= 500;
}

/** Enough to find the cause, without what came from outside. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}
