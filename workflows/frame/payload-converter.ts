import { DefaultPayloadConverter, type Payload } from '@temporalio/common';

/** In place of what cannot be read. */
const UNREADABLE: unknown = null;

/**
 * Anybody who may signal can send bytes that are no JSON. The SDK's own converter would throw, and the workflow would be stuck
 * on that signal until somebody resets it.
 */
class LenientPayloadConverter extends DefaultPayloadConverter {
  override fromPayload<Value>(payload: Payload): Value {
    try {
      return super.fromPayload<Value>(payload);
    } catch {
      return UNREADABLE as Value;
    }
  }
}

/** The name under which the SDK looks for it. */
export const payloadConverter = new LenientPayloadConverter();
