import { createNameResolver } from '../../activities/webhooks/name-resolver.ts';
import { type DomainError, rejection } from '../../domain/common/errors.ts';
import {
  type AddressProblem,
  hostOf,
  isAddress,
  isAllowedAddress,
  type WebhookAddressPolicy,
  webhookUrlProblem,
} from '../../domain/webhooks/addresses.ts';
import type { Services } from '../http/services.ts';

const resolve = createNameResolver({ deadlineMs: 2_000 });

/**
 * Rejects an address that must not receive webhooks, also if its name resolves to such an address. A name that does not resolve
 * yet is accepted, because every connection is checked again.
 */
export async function requireWebhookUrl(services: Services, url: string): Promise<void> {
  const { allowPlainHttp, allowLoopback, allowPrivate } = services.configuration.webhooks;
  const { publicUrl } = services.environment;
  const policy: WebhookAddressPolicy = { allowPlainHttp, allowLoopback, allowPrivate, ownBaseUrl: publicUrl };
  const problem = webhookUrlProblem(url, policy);
  if (problem !== null) throw rejectedUrl(url, problem);
  const host = hostOf(new URL(url));
  if (isAddress(host)) return;
  const addresses = await resolve(host).catch(() => []);
  if (!addresses.every(({ address }) => isAllowedAddress(address, policy)))
    throw rejectedUrl(url, 'is not a public address');
}

/** Paths, queries and credentials can be secrets: the answer repeats only the host. */
function rejectedUrl(url: string, problem: AddressProblem): DomainError {
  const shown = URL.canParse(url) ? new URL(url).host : '';
  return rejection(
    'common.validation.field_invalid',
    ['webhookSubscription', 'url', shown],
    `data.webhookSubscription.url ${problem}.`,
  );
}
