import { CallbackRejected, type ProviderEvent } from '../../activities/providers/port.ts';
import { applyEvent } from '../../activities/providers/reports/events.ts';
import { type DomainError, rejection } from '../../domain/common/errors.ts';
import { openRoute } from '../http/route.ts';
import { inTraceOf } from './callback-traces.ts';

/** Enough for tens of events of about a kilobyte. */
const CALLBACK_BYTES_MAX = 64 * 1024;

const CALLBACK_SCHEMA = {
  type: 'object',
  description: 'In the provider’s own words, with its signature in the headers',
  additionalProperties: true,
} as const;

/**
 * Receives signed callbacks of built-in providers, without a token. Each event is stored and applied in a transaction
 * of its own; if one fails, the provider repeats the callback, and events already applied have no second effect.
 */
const postProviderCallback = openRoute(
  {
    method: 'POST',
    path: '/provider-callbacks/{provider}',
    operationId: 'receiveProviderCallback',
    summary: 'Receive a signed callback from a provider',
    tag: 'Providers',
    body: { mediaType: 'application/json', bytesMax: CALLBACK_BYTES_MAX, schema: CALLBACK_SCHEMA },
    credential: 'callback-signature',
    responses: {
      200: 'Every event is stored',
      401: 'The signature is not valid',
      404: 'No such provider',
    },
  },
  async ({ services, trace, headers, params, readBody }) => {
    const code = params.provider ?? '';
    const provider = services.providers.get(code);
    if (provider?.verifyCallback === undefined) {
      throw rejection('common.coding.internal.record_not_found', ['provider', 'code', code], 'No such provider.');
    }
    const body = await readBody();
    let events: ProviderEvent[];
    try {
      events = provider.verifyCallback(headers, body, services.now());
    } catch (error) {
      if (!(error instanceof CallbackRejected)) throw error;
      if (error.reason === 'malformed') services.logger.warn({ provider: code }, 'provider callback cannot be read');
      throw callbackRejection(error);
    }
    for (const event of events) {
      await inTraceOf(services, code, event, trace, async (ofResource) => {
        await applyEvent(ofResource, code, event);
      });
    }
    return { status: 200, body: '{}', contentType: 'application/json' };
  },
);

function callbackRejection(error: CallbackRejected): DomainError {
  return error.reason === 'malformed'
    ? rejection('common.validation.field_invalid', ['body', 'body', ''], 'The callback cannot be read.')
    : rejection(
        'common.security.unauthenticated',
        ['header', 'signature', ''],
        'The callback is not signed by the provider.',
      );
}

export const providerCallbackRoutes = [postProviderCallback] as const;
