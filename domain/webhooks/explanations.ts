import { type AttemptError, isAccepted, isSuccess } from './deliveries.ts';

/** Why an attempt failed: what happened, and what the receiver's operator can do. */
export interface Explanation {
  readonly happened: string;
  readonly action: string;
}

export const ERROR_EXPLANATIONS: Readonly<Record<AttemptError, Explanation>> = {
  timeout: {
    happened: 'The receiver gave no complete answer in time.',
    action: 'Answer 2xx as soon as the webhook is stored, and process it afterwards.',
  },
  connect_timeout: {
    happened: 'No connection to the receiver was established in time, or it did not finish the TLS handshake.',
    action: 'Check that the receiver is up and that no firewall or load balancer drops connections from this service.',
  },
  address_rejected: {
    happened: 'Webhooks are not sent to this URL, or to an address that its host name resolves to.',
    action: 'Set an https URL on port 443 or 8443 whose host name resolves to public addresses only.',
  },
  name_not_found: {
    happened: 'The host name in the URL does not exist, or has no address.',
    action: 'Check the spelling of the host name and its A and AAAA records in the public DNS.',
  },
  dns_failed: {
    happened: 'The host name in the URL could not be resolved.',
    action: 'Check that the name servers of the domain can be reached and answer without errors.',
  },
  connection_refused: {
    happened: 'The host of the receiver refused the connection.',
    action: 'Check that the receiver is running and listens on the port of the URL, and that no firewall blocks it.',
  },
  connection_failed: {
    happened: 'No connection to the receiver could be made.',
    action: 'Check that the host of the receiver is up, that its DNS records are right, and that it can be reached.',
  },
  connection_lost: {
    happened: 'The connection was closed before the answer was complete.',
    action:
      'Look for crashes, idle time-outs and a demand for client certificates in the logs of the receiver and its proxy.',
  },
  tls_failed: {
    happened: 'The TLS handshake failed.',
    action: 'Check that the port serves TLS 1.2 or 1.3 with common cipher suites and requires no client certificate.',
  },
  certificate_expired: {
    happened: "The receiver's certificate, or one in its chain, has expired.",
    action: 'Renew the certificate, and check that the server presents the new one with its current chain.',
  },
  certificate_not_yet_valid: {
    happened: "The receiver's certificate, or one in its chain, is not valid yet.",
    action: 'Install a certificate whose period of validity has begun.',
  },
  certificate_self_signed: {
    happened: "The receiver's certificate is self-signed.",
    action: 'Install a certificate issued by a public certificate authority.',
  },
  certificate_authority_unknown: {
    happened: "The receiver's certificate does not lead to a certificate authority that this service trusts.",
    action: 'Install a certificate of a public certificate authority together with its intermediate certificates.',
  },
  certificate_name_mismatch: {
    happened: "The receiver's certificate is for another host name.",
    action: 'Install a certificate whose alternative names include the host of the URL, or correct the URL.',
  },
  certificate_too_weak: {
    happened: "The receiver's certificate, or one in its chain, has a key or a signature that is too weak.",
    action: 'Install a certificate with an RSA key of at least 2048 bits or an ECDSA key, signed with SHA-256.',
  },
  certificate_invalid: {
    happened: "The receiver's certificate could not be verified.",
    action: 'Install a certificate that a public certificate authority issued for TLS servers, with its whole chain.',
  },
  answer_too_large: {
    happened: 'The answer was longer than 64 kB, or its headers were longer than 16 kB.',
    action: 'Answer 2xx with a short body or none.',
  },
  answer_invalid: {
    happened: 'The answer was not valid HTTP.',
    action: 'Check that an HTTP/1.1 server listens on the port of the URL and that no proxy garbles its answers.',
  },
  event_unreadable: {
    happened: 'This service could not prepare the webhook, so it sent nothing.',
    action: "Change nothing at the receiver, and report the delivery's id to the operator of this service.",
  },
};

export const STATUS_EXPLANATIONS = {
  '3xx': {
    happened: 'The receiver redirected the webhook, and redirects are not followed.',
    action: 'Set the URL of the subscription to the address that the redirect names.',
  },
  '400': {
    happened: 'The receiver found the webhook malformed.',
    action: 'Make it ignore fields and types that it does not know, and verify the signature over the unparsed body.',
  },
  '401': {
    happened: 'The receiver did not accept the webhook as authenticated.',
    action: "Ask for no credentials at the URL, and verify the signature with the subscription's current secret.",
  },
  '403': {
    happened: 'The receiver does not allow the webhook.',
    action: 'Check that no firewall, bot protection or list of allowed addresses before the receiver blocks it.',
  },
  '404': {
    happened: 'The receiver has nothing at the path of the URL.',
    action: 'Correct the URL of the subscription, or restore the path at the receiver.',
  },
  '405': {
    happened: 'The receiver does not accept POST at the URL.',
    action: 'Accept POST there, or correct the URL of the subscription.',
  },
  '410': {
    happened: 'The receiver answered that it is permanently gone, so the subscription was disabled.',
    action: 'If it is back, set the status of the subscription to active, and request the missed events with replay.',
  },
  '413': {
    happened: 'The webhook is longer than the receiver accepts.',
    action: 'Raise the limit on the length of requests at the receiver and at any proxy before it.',
  },
  '429': {
    happened: 'The receiver limits the rate of requests.',
    action: 'Raise the limit for webhooks, or answer with Retry-After, which is honoured for up to a day.',
  },
  '4xx': {
    happened: 'The receiver rejected the webhook.',
    action: 'Find the reason in its answer or its log, and make it answer 2xx.',
  },
  '502': {
    happened: 'A proxy before the receiver got no valid answer from it.',
    action: 'Check that the receiver is running and that the proxy leads to it.',
  },
  '503': {
    happened: 'The receiver is unavailable or overloaded.',
    action: 'Check that it is running and has the capacity for its webhooks.',
  },
  '504': {
    happened: 'A proxy before the receiver got no answer from it in time.',
    action: 'Answer 2xx as soon as the webhook is stored, and process it afterwards.',
  },
  '5xx': {
    happened: 'The receiver failed while it handled the webhook.',
    action: 'Find the error in its log at the time of the attempt, and correct it.',
  },
  other: {
    happened: 'The receiver answered with an unsuccessful status.',
    action: 'Make it answer 2xx.',
  },
} as const satisfies Readonly<Record<string, Explanation>>;

/** For a code that this release does not know: a newer release recorded it before a rollback. */
export const UNKNOWN_ERROR_EXPLANATION: Explanation = {
  happened: 'The attempt got no complete answer.',
  action: 'Retry the delivery, and follow the explanation of its new attempt.',
};

/**
 * Null for a success. An unsuccessful status says more than an incompletely read answer: a long page with 404 needs
 * another URL rather than a shorter page.
 */
export function explainAttempt(attempt: {
  readonly responseCode: number | null;
  readonly error: string | null;
}): string | null {
  if (isAccepted(attempt)) return null;
  const { responseCode, error } = attempt;
  const isExplainedByError = error !== null && (responseCode === null || isSuccess(responseCode));
  const { happened, action } = isExplainedByError ? explainError(error) : explainStatus(responseCode);
  return `${happened} ${action}`;
}

function explainError(error: string): Explanation {
  return isAttemptError(error) ? ERROR_EXPLANATIONS[error] : UNKNOWN_ERROR_EXPLANATION;
}

function isAttemptError(error: string): error is AttemptError {
  return Object.hasOwn(ERROR_EXPLANATIONS, error);
}

function explainStatus(responseCode: number | null): Explanation {
  const keys = [String(responseCode), `${String(responseCode)[0]}xx`];
  const key = keys.find(isExplainedStatus) ?? 'other';
  return STATUS_EXPLANATIONS[key];
}

function isExplainedStatus(status: string): status is keyof typeof STATUS_EXPLANATIONS {
  return Object.hasOwn(STATUS_EXPLANATIONS, status);
}
