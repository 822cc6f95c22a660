/** The fragment of a redirect. A rejection has no `code`, an approval no `error`. */
export interface RedirectFragment {
  readonly code?: string;
  readonly error?: 'access_denied';
  readonly state: string;
  readonly id_token: string;
}

/** Where the account holder's browser goes. The address keeps its own query; a registered address has no fragment. */
export function redirectLocation(redirectUri: string, { code, error, state, id_token }: RedirectFragment): string {
  const fragment = new URLSearchParams({
    ...(error === undefined ? {} : { error }),
    ...(code === undefined ? {} : { code }),
    state,
    id_token,
  });
  return `${redirectUri}#${fragment}`;
}
